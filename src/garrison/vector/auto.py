"""`auto`: time one environment for a moment, then choose the backend and the number of workers."""

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from garrison.formatting import duration
from garrison.vector.base import Setup
from garrison.vector.timing.cost_model import Load, predict
from garrison.vector.timing.parts import BINS, Distribution, bins_of, clock

LOOK_SECONDS = 0.1
"""How long one environment is watched."""
MOST_STEPS = 2000
FEWEST_STEPS = 3
FEWEST_UNEVEN = 20
"""How many steps tell how uneven they are; a caller that can use it waits for them,"""
LONGEST_LOOK_SECONDS = 1.0
"""but not longer than this."""
MARGIN = 1.15
"""How much faster the less simple choice must promise to be: processes cost memory, and a promise is an estimate."""
READY_MARGIN = 1.03
"""How much faster `async` must promise to be for a caller that can use it: it has as many processes as `shared`."""

BRIEF_SECONDS = 4e-3
"""Steps of the batch up to which waking processes is felt: the caller then steps a group itself. Above, processes keep
a crash or a stuck environment away from it for nothing."""

log = logging.getLogger("garrison.vector")


@dataclass(frozen=True)
class Choice:
    """A backend with its number of workers, and the reason in words."""

    backend: str
    workers: int
    why: str


def choose(load: Load, num_envs: int, cores: int, ready_first: bool = False, may_die: bool = False) -> Choice:
    """Choose for environments whose steps take what `load` says, from a model of what each backend adds.

    `async` is for callers that take environments `ready_first`: whoever calls `step` waits for all of them anyway.
    Environments that `may_die`, because the caller wants dead workers replaced, are not stepped by the caller.
    """
    workers = max(1, min(cores, num_envs))
    serial = predict("serial", load, num_envs, 1, cores)
    even = replace(load, steps=None)
    together = "shared" if may_die or predict("shared", even, num_envs, workers, workers) > BRIEF_SECONDS else "joint"
    parallel = predict(together, even, num_envs, workers, workers)
    cost = f"a step takes {duration(load.step)}"
    if workers == 1:
        return Choice(
            "serial", 1, f"{cost}; there is one {'core' if cores == 1 else 'environment'}, so nothing runs at once"
        )
    times = f"{num_envs} take {duration(serial)} in one process, about {duration(parallel)} with {workers} workers"
    if serial <= MARGIN * parallel:
        return Choice("serial", 1, f"{cost}; {times}, too little gain to pay for processes")
    if ready_first:
        batch = max(1, num_envs // max(2, workers))  # a worker that runs out has filled one by itself
        waiting = predict(together, load, num_envs, workers, workers)
        if waiting > READY_MARGIN * predict("async", load, num_envs, workers, workers, batch):
            return Choice("async", workers, f"{cost}; {times}, {duration(waiting)} if they wait for the slowest")
    return Choice(together, workers, f"{cost}; {times}")


def watch(setup: Setup, ready_first: bool = False) -> Load:
    """Make the first environment here, step it with random actions for a moment, and return what its steps take.

    A reset counts with the step after it. How uneven steps are is told only to a caller that takes environments
    `ready_first`, and only if there were enough of them.
    """
    env = setup.makers[0]()
    wanted, longest = (FEWEST_UNEVEN, LONGEST_LOOK_SECONDS) if ready_first else (FEWEST_STEPS, LOOK_SECONDS)
    try:
        env.action_space.seed(0)
        env.reset(seed=0)
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())  # the first may compile or load
        actions = [env.action_space.sample() for _ in range(64)]
        stamps = [clock()]
        for k in range(MOST_STEPS):
            if terminated or truncated:
                env.reset()
            _, _, terminated, truncated, _ = env.step(actions[k % 64])
            stamps.append(clock())
            spent = 1e-9 * (stamps[-1] - stamps[0])
            if k >= FEWEST_STEPS and spent > (LOOK_SECONDS if k >= wanted else longest):
                break
    finally:
        env.close()
    times = np.diff(np.array(stamps))
    tells = ready_first and len(times) >= FEWEST_UNEVEN
    return Load(
        step=1e-9 * float(times.mean()),
        steps=Distribution(np.bincount(bins_of(times), minlength=BINS)) if tells else None,
    )


def look(setup: Setup, cores: int, ready_first: bool) -> tuple[Setup, Choice]:
    """Time an environment; return the setup with the number of workers that it recommends, and the choice."""
    ready_first = ready_first and min(cores, setup.num_envs) > 1  # one worker has nobody to wait for
    choice = choose(watch(setup, ready_first), setup.num_envs, cores, ready_first, setup.restart)
    return replace(setup, workers=choice.workers), choice


def announce(envs: Any, choice: Choice) -> None:
    """Note the choice on the vector environment and in the log."""
    workers = f" with {choice.workers} workers" if choice.workers > 1 else ""
    envs.choice = f"{choice.backend}{workers}: {choice.why}"
    log.info("auto chose %s", envs.choice)
