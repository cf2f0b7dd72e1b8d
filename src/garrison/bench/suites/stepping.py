"""What `garrison bench vector` runs: the same environments, stepped with random actions, by us and by every peer."""

import itertools
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import gymnasium
import numpy as np

import garrison.vector
from garrison.bench.method.fresh import Work
from garrison.bench.synthetic import Synthetic

BATCHES = 64  # of actions, drawn beforehand
FINE_SECONDS = 1e-3
"""How long an advance of the limit's loops takes, about."""
LOOK_SECONDS = 5e-3
"""How often it is looked how far loops in other processes are."""


def maker(env: str, options: dict[str, Any]) -> Callable[[], gymnasium.Env[Any, Any]]:
    """Return what makes one environment: "synthetic" or a Gymnasium id."""
    if env == "synthetic":
        return partial(Synthetic, **options)
    return partial(gymnasium.make, env, disable_env_checker=True, **options)


def actions_of(space: Any, num_envs: int) -> list[Any]:
    """Draw batches of actions of a Discrete or a Box space."""
    generator = np.random.default_rng(0)
    if isinstance(space, gymnasium.spaces.Box):
        return list(generator.uniform(space.low, space.high, (BATCHES, num_envs, *space.shape)).astype(space.dtype))
    return list(generator.integers(0, space.n, (BATCHES, num_envs)))


@contextmanager
def plain(
    env: str, options: dict[str, Any], num_envs: int, first_seed: int = 0, advance_seconds: float | None = None
) -> Iterator[Work]:
    """Step environment after environment in a bare loop: no vector interface, no batch of results.

    An advance steps all of them, or only as many as take about `advance_seconds`.
    """
    envs = [maker(env, options)() for _ in range(num_envs)]
    for i, each in enumerate(envs):
        each.reset(seed=first_seed + i)
    draws = actions_of(envs[0].action_space, num_envs)

    def in_groups_of(size: int) -> Iterator[tuple[list[Any], Any]]:
        groups = [(begin, envs[begin : begin + size]) for begin in range(0, num_envs, size)]
        for count in itertools.count(1):
            for begin, some in groups:
                yield some, draws[count % BATCHES][begin : begin + size]

    work = in_groups_of(num_envs)

    def advance() -> int:
        some, actions = next(work)
        for each, action in zip(some, actions, strict=True):
            _, _, terminated, truncated, _ = each.step(action)
            if terminated or truncated:
                each.reset()
        return len(some)

    if advance_seconds is not None:
        begun = time.perf_counter()
        advance()
        work = in_groups_of(max(1, int(advance_seconds / (time.perf_counter() - begun) * num_envs)))
    yield Work(advance)


def limit(env: str, options: dict[str, Any], num_envs: int, workers: int) -> AbstractContextManager[Work]:
    """Run `workers` bare loops side by side: what this machine can do at most."""
    count = max(1, num_envs // workers)
    # What a loop has begun but not finished when its time is up is not counted; of whole batches that would be much.
    loop = partial(plain, env, options, count, advance_seconds=FINE_SECONDS)
    return side_by_side([partial(loop, first_seed=k * count) for k in range(workers)])


def barrier(env: str, options: dict[str, Any], num_envs: int, workers: int) -> AbstractContextManager[Work]:
    """Run `workers` bare loops that wait for each other after every batch, for nothing: the most that `step` can do."""
    count = max(1, num_envs // workers)
    loops = [partial(plain, env, options, count, first_seed=k * count) for k in range(workers)]
    return side_by_side(loops, in_step=True)


@contextmanager
def side_by_side(loops: Sequence[Callable[[], AbstractContextManager[Work]]], in_step: bool = False) -> Iterator[Work]:
    """Advance workloads in processes, and count the steps of all.

    They never speak to each other; or, `in_step`, each looks at the others' counts until they are as far as it is, and
    what counts is what all have done.
    """
    context = multiprocessing.get_context("fork")
    counters = [context.RawValue("q", 0) for _ in loops]
    ready = context.Barrier(len(loops) + 1)

    def loop(make: Callable[[], AbstractContextManager[Work]], counter: Any) -> None:
        with make() as work:
            work.advance()
            ready.wait()
            while True:
                counter.value = done = counter.value + work.advance()
                while in_step and any(other.value < done for other in counters):
                    pass

    def done() -> int:
        counts = [counter.value for counter in counters]
        return len(counts) * min(counts) if in_step else sum(counts)

    given = zip(loops, counters, strict=True)
    processes = [context.Process(target=loop, args=pair, daemon=True) for pair in given]
    for process in processes:
        process.start()
    try:
        ready.wait(60)
        seen = 0

        def advance() -> int:
            nonlocal seen
            time.sleep(LOOK_SECONDS)
            while in_step and done() == seen:  # an advance ends with a batch, as a step does
                time.sleep(LOOK_SECONDS)
            before, seen = seen, done()
            return seen - before

        yield Work(advance)
    finally:
        for process in processes:
            process.kill()
            process.join()


@contextmanager
def ours(env: str, options: dict[str, Any], num_envs: int, backend: str, workers: int | None = None) -> Iterator[Work]:
    """Step one of our backends; `auto` is told that its caller takes environments ready first where it may."""
    target: Any = maker(env, options) if env == "synthetic" else env
    kwargs = {} if env == "synthetic" else options
    envs: Any = garrison.vector.make(target, num_envs, backend, workers=workers, copy=False, ready_first=True, **kwargs)
    draws = actions_of(envs.single_action_space, num_envs)
    envs.reset(seed=0)
    advance = _ready_first(envs, draws) if hasattr(envs, "recv") else in_step(envs, draws)
    yield Work(advance, lambda: _facts(envs))
    envs.close()


def in_step(envs: Any, draws: list[Any]) -> Callable[[], int]:
    """Return what steps all environments once, with the next of the drawn actions."""
    count = 0
    num_envs = len(draws[0])

    def advance() -> int:
        nonlocal count
        count += 1
        envs.step(draws[count % BATCHES])
        return num_envs

    return advance


def _ready_first(envs: Any, draws: list[Any]) -> Callable[[], int]:
    count = 0
    envs.send(draws[0])

    def advance() -> int:
        nonlocal count
        count += 1
        env_ids = envs.recv()[5]
        envs.send(draws[count % BATCHES][: len(env_ids)], env_ids)
        return len(env_ids)

    return advance


def _facts(envs: Any) -> dict[str, float]:
    return {"workers": float(envs.workers)}


@contextmanager
def gymnasium_peer(env: str, options: dict[str, Any], num_envs: int, kind: str) -> Iterator[Work]:
    """Step Gymnasium's SyncVectorEnv, AsyncVectorEnv (with shared memory or pipes), or what an id has of its own."""
    makers = [maker(env, options)] * num_envs
    if kind == "sync":
        envs: Any = gymnasium.vector.SyncVectorEnv(makers)
    elif kind == "own":
        envs = gymnasium.make_vec(env, num_envs, vectorization_mode="vector_entry_point", **options)
    else:
        envs = gymnasium.vector.AsyncVectorEnv(makers, shared_memory=kind == "shared")
    envs.reset(seed=0)
    yield Work(in_step(envs, actions_of(envs.single_action_space, num_envs)))
    envs.close(terminate=True) if kind in ("shared", "pipes") else envs.close()


@contextmanager
def sb3_peer(env: str, options: dict[str, Any], num_envs: int, kind: str) -> Iterator[Work]:
    """Step Stable-Baselines3's DummyVecEnv or SubprocVecEnv."""
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

    makers = [maker(env, options)] * num_envs
    envs: Any = DummyVecEnv(makers) if kind == "dummy" else SubprocVecEnv(makers, start_method="fork")
    envs.reset()
    yield Work(in_step(envs, actions_of(envs.action_space, num_envs)))
    envs.close()
