"""`auto`: time one environment for a moment, then choose the backend and the number of workers."""

import logging
import time
from dataclasses import dataclass, replace
from typing import Any

from garrison.text import duration
from garrison.vector.base import Setup
from garrison.vector.timing.cost_model import Load, predict

LOOK_SECONDS = 0.1
"""How long one environment is watched."""
MOST_STEPS = 2000
MARGIN = 1.15
"""How much faster processes must promise to be: they cost memory, and the promise is an estimate."""

log = logging.getLogger("garrison.vector")


@dataclass(frozen=True)
class Choice:
    """A backend with its number of workers, and the reason in words."""

    backend: str
    workers: int
    why: str


def choose(step_seconds: float, num_envs: int, cores: int) -> Choice:
    """Choose for environments whose step takes `step_seconds`, from a model of what each backend adds."""
    workers = max(1, min(cores, num_envs))
    load = Load(step_seconds)
    serial = predict("serial", load, num_envs, 1, cores)
    shared = predict("shared", load, num_envs, workers, workers)
    cost = f"a step takes {duration(step_seconds)}"
    if workers == 1:
        return Choice(
            "serial", 1, f"{cost}; there is one {'core' if cores == 1 else 'environment'}, so nothing runs at once"
        )
    times = f"{num_envs} take {duration(serial)} in one process, about {duration(shared)} with {workers} workers"
    if serial > MARGIN * shared:
        return Choice("shared", workers, f"{cost}; {times}")
    return Choice("serial", 1, f"{cost}; {times}, too little gain to pay for processes")


def step_seconds(setup: Setup) -> float:
    """Make the first environment here, step it with random actions for a moment, and return its mean step time.

    Resets are part of the mean, in the proportion in which they happen.
    """
    env = setup.makers[0]()
    try:
        env.action_space.seed(0)
        env.reset(seed=0)
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())  # the first may compile or load
        actions = [env.action_space.sample() for _ in range(64)]
        steps = 0
        begun = time.perf_counter()
        while steps < MOST_STEPS and (steps < 3 or time.perf_counter() - begun < LOOK_SECONDS):
            if terminated or truncated:
                env.reset()
            _, _, terminated, truncated, _ = env.step(actions[steps % 64])
            steps += 1
        return (time.perf_counter() - begun) / steps
    finally:
        env.close()


def look(setup: Setup, cores: int) -> tuple[Setup, Choice]:
    """Time an environment; return the setup with the number of workers that it recommends, and the choice."""
    choice = choose(step_seconds(setup), setup.num_envs, cores)
    return replace(setup, workers=choice.workers), choice


def announce(envs: Any, choice: Choice) -> None:
    """Note the choice on the vector environment and in the log."""
    workers = f" with {choice.workers} workers" if choice.workers > 1 else ""
    envs.choice = f"{choice.backend}{workers}: {choice.why}"
    log.info("auto chose %s", envs.choice)
