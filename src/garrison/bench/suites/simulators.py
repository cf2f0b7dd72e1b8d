"""Workloads that step CAGE-2 with random actions: our batch and single environment, CybORG, MiniCAGE."""

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.bench.method.fresh import Work

RED_MIX = {"bline": 0.5, "meander": 0.5}
LENGTH = 100
_ROUNDS = 64  # different batches of random actions, drawn before the clock starts
_STEPS = 20_000  # of all environments together, about: a look at the clock costs nothing beside them


def in_calls(envs: Any, actions: NDArray[np.int64], steps: int = _STEPS) -> Callable[[], int]:
    """Return what steps all environments, about `steps` times together; each time it goes on in `actions`, (rounds, n).

    Begun anew, a large batch would be given its first few over and over: an environment that always gets the same
    action is stepped more quickly, and is not stepped at random.
    """
    num_envs = int(envs.num_envs)
    calls, following = max(1, steps // num_envs), cycle(actions)

    def advance() -> int:
        for chosen in islice(following, calls):
            envs.step(chosen)
        return calls * num_envs

    return advance


@contextmanager
def native(num_envs: int, threads: int = 1) -> Iterator[Work]:
    """Step the batch: observations, rewards, flags, infos and the true state, automatic resets."""
    from garrison.cage2.vector_env import VectorEnv

    envs = VectorEnv(num_envs, red=RED_MIX, length=LENGTH, threads=threads, autoreset_mode="SameStep", copy=False)
    envs.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, 145, (_ROUNDS, num_envs))
    state_mb = sum(array.nbytes for array in vars(envs).values() if isinstance(array, np.ndarray)) / 1e6
    yield Work(in_calls(envs, actions), lambda: {"batch_mb": state_mb})
    envs.close()


@contextmanager
def rollout(num_envs: int) -> Iterator[Work]:
    """Play the same batch, with the same actions, in rollouts inside of the kernel."""
    from garrison.cage2.vector_env import VectorEnv

    envs = VectorEnv(num_envs, red=RED_MIX, length=LENGTH, autoreset_mode="SameStep", copy=False)
    envs.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, 145, (_ROUNDS, num_envs))

    def advance() -> int:
        envs.rollout(actions)
        return _ROUNDS * num_envs

    yield Work(advance)
    envs.close()


@contextmanager
def single() -> Iterator[Work]:
    """Step one environment through Gymnasium's single interface, without its wrappers."""
    from garrison.cage2.env import Env

    env = Env(red=RED_MIX, length=LENGTH)
    env.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, 145, 1000).tolist()

    def advance() -> int:
        for action in actions:
            if env.step(action)[3]:
                env.reset()
        return len(actions)

    yield Work(advance)


@contextmanager
def cyborg(red: str, ask_true_state: bool) -> Iterator[Work]:
    """Step the original CybORG behind its ChallengeWrapper; users ask for the true state before and after a step."""
    import inspect

    from CybORG import CybORG
    from CybORG.Agents import B_lineAgent, RedMeanderAgent
    from CybORG.Agents.Wrappers import ChallengeWrapper

    scenario = Path(inspect.getfile(CybORG)).parent / "Shared" / "Scenarios" / "Scenario2.yaml"
    attacker = {"bline": B_lineAgent, "meander": RedMeanderAgent}[red]
    inner = CybORG(str(scenario), "sim", agents={"Red": attacker})
    env = ChallengeWrapper(env=inner, agent_name="Blue", max_steps=LENGTH)
    env.reset()
    random = np.random.default_rng(0)

    def advance() -> int:
        for _ in range(10):
            if ask_true_state:
                inner.get_agent_state("True")
            _, _, done, *_ = env.step(int(random.integers(145)))
            if ask_true_state:
                inner.get_agent_state("True")
            if done:
                env.reset()
        return 10

    yield Work(advance)


@contextmanager
def minicage(num_envs: int) -> Iterator[Work]:
    """Step MiniCAGE's NumPy batch against its Meander; it has 53 actions and no episode end."""
    from importlib import import_module

    module = import_module(minicage_module() or "mini_CAGE")
    env = module.SimplifiedCAGE(num_envs=num_envs)
    attacker = module.Meander_minimal()
    random = np.random.default_rng(0)
    state, _ = env.reset()
    steps = 0

    def advance() -> int:
        nonlocal state, steps
        if steps % LENGTH == 0:
            state, _ = env.reset()
        steps += 1
        red = attacker.get_action(observation=state["Red"])
        blue = random.integers(0, 53, (num_envs, 1))
        state, *_ = env.step(blue_action=blue, red_action=red)
        return num_envs

    yield Work(advance)


def minicage_module() -> str | None:
    """Return the name under which MiniCAGE can be imported, if it can."""
    names = ("mini_CAGE", "CybORG_plus_plus.mini_CAGE")
    return next((name for name in names if is_installed(name)), None)


def is_installed(name: str) -> bool:
    """Return whether a module can be imported, also one of a package that is missing."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
