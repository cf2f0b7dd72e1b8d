"""What `garrison bench scaling` runs: batches in the middle of their episodes, memory that is copied, and two cores."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from garrison.bench.method.fresh import Work
from garrison.bench.suites.simulators import LENGTH, RED_MIX, in_calls
from garrison.bench.suites.stepping import side_by_side
from garrison.cage2.names import NUM_ACTIONS
from garrison.system import MEGABYTE

SEASONED = 4_000
"""Environments that are played into the middle of their episodes; larger batches are copies of these."""
TOLD_FROM = 1_000
"""Environments of a batch from which on it tells how many bytes a step moves."""
LINE = 64
"""Bytes that a processor reads and writes at once."""
COPIED_BYTES = 256 * MEGABYTE


@contextmanager
def batch(num_envs: int, threads: int = 1) -> Iterator[Work]:
    """Step the native batch with random actions, its environments spread evenly over their episodes.

    A million of them pass only some steps while the clock runs: all at the beginning of an episode, they would be
    cheaper than on average.
    """
    actions = np.random.default_rng(0).integers(0, NUM_ACTIONS, (_batches(num_envs), num_envs))
    envs, resident = _seasoned(num_envs, threads)
    moved = partial(bytes_moved, envs, actions[0]) if num_envs >= TOLD_FROM else dict
    yield Work(in_calls(envs, actions), lambda: resident | moved())
    envs.close()


def _batches(num_envs: int) -> int:
    """Return for how many steps actions are drawn before the clock starts."""
    return max(4, min(64, 1_000_000 // num_envs))


def _seasoned(num_envs: int, threads: int) -> tuple[Any, dict[str, float]]:
    from garrison.cage2.vector_env import VectorEnv

    few = min(num_envs, SEASONED)
    envs = VectorEnv(few, red=RED_MIX, length=LENGTH, threads=threads, autoreset_mode="SameStep", copy=False)
    envs.reset(seed=0)
    actions = np.random.default_rng(1).integers(0, NUM_ACTIONS, (LENGTH, few))
    begins = np.arange(few) * LENGTH // few
    for t in range(LENGTH):
        envs.step(actions[t])
        if (begins == t).any():
            envs.reset(options={"reset_mask": begins == t})
    if num_envs == few:
        return envs, {}
    before = psutil.Process().memory_info().rss
    many = envs.clone(np.arange(num_envs) % few)
    many.step(np.zeros(num_envs, np.int64))  # pages are resident when they have been written
    envs.close()
    return many, {"resident_bytes": float(psutil.Process().memory_info().rss - before)}


def bytes_moved(envs: Any, actions: NDArray[np.int64]) -> dict[str, float]:
    """Return bytes that a step of one environment reads and writes, at least and at most.

    At least: the lines of its record that it changes are read and written. At most: its whole record is read. What it
    returns is written to lines that were read before, and its action is read.
    """
    some = np.arange(min(envs.num_envs, SEASONED))
    before = envs.get_state(some)
    observations, rewards, _, truncations, _ = envs.step(actions)
    after = envs.get_state(some)
    size = before.dtype.itemsize
    changed = before.view(np.uint8).reshape(len(some), size) != after.view(np.uint8).reshape(len(some), size)
    lines = np.pad(changed, ((0, 0), (0, -size % LINE))).reshape(len(some), -1, LINE).any(axis=2)
    written = LINE * float(lines.sum(axis=1).mean())
    returned = observations[0].nbytes + rewards.itemsize + truncations.itemsize
    around = 2 * returned + actions.itemsize
    return {"bytes_least": 2 * written + around, "bytes_most": size + written + around}


def batches_apart(num_envs: int, processes: int = 2) -> AbstractContextManager[Work]:
    """Step as many batches in processes that never speak to each other: what cores cost one another."""
    return side_by_side([partial(batch, num_envs)] * processes)


@contextmanager
def memory_copy(threads: int) -> Iterator[Work]:
    """Copy memory that no cache holds, over threads; a step is a byte, read or written."""
    source, target = np.ones(COPIED_BYTES, np.uint8), np.empty(COPIED_BYTES, np.uint8)
    target[:] = source
    pieces = list(zip(np.array_split(target, threads), np.array_split(source, threads), strict=True))
    with ThreadPoolExecutor(threads) as team:

        def advance() -> int:
            list(team.map(lambda piece: np.copyto(*piece), pieces))
            return 2 * COPIED_BYTES

        yield Work(advance)


@contextmanager
def on_two_cores(function: str, arguments: dict[str, Any]) -> Iterator[Work]:
    """Run another workload, "module:function", on two cores, however many there are."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, two_cores())
    module, _, name = function.partition(":")
    with getattr(import_module(module), name)(**arguments) as work:
        yield work


def two_cores() -> list[int]:
    """Return two processors that this process may use, if it can be of different cores."""
    first, *others = sorted(os.sched_getaffinity(0))
    return [first, *sorted(others, key=lambda other: other in _siblings(first))[:1]]


def _siblings(processor: int) -> set[int]:
    """Return the processors that share a core with this one, where Linux tells."""
    try:
        text = Path(f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list").read_text()
    except OSError:
        return {processor}
    found: set[int] = set()
    for part in text.strip().split(","):
        low, _, high = part.partition("-")
        found |= set(range(int(low), int(high or low) + 1))
    return found
