"""Actors as processes of this machine: how IMPALA's `Local` and A3C start theirs."""

import multiprocessing
from collections.abc import Callable
from typing import Any

from garrison.workers.launch import Launch, WorkerPipes
from garrison.workers.memory import SharedMemory
from garrison.workers.pool import WorkerPool
from garrison.workers.watchdog import STARTING_SECONDS

Target = Callable[[Any, int, int, WorkerPipes], None]


def start_actors(target: Target, task: Any, count: int, memory: SharedMemory, timeout: float) -> WorkerPool:
    """Start processes that run `target(task, number, start, pipes)`.

    Args:
        target: an importable function. Its `start` counts the actors ever started, so a replacement can have seeds of
            its own.
        task: the same for all; what cannot be imported in it is pickled by value.
        count: how many.
        memory: shared with all of them.
        timeout: seconds after which an actor that owes a message counts as stuck.
    """
    # A fork of a learner would copy locks that its threads hold. The fork server has no threads, and when it has
    # imported the learner's modules once, a process starts in a tenth of a second instead of several.
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    launch = Launch(
        _run,
        method,
        name="actor",
        is_daemon=False,  # a vector environment in it may have workers
        preload=("__main__", "garrison.learn.actors.local", "garrison.learn.a3c"),
        contents="what makes the environments",
    )
    starting = max(STARTING_SECONDS, timeout)
    return WorkerPool(count, launch, lambda number, start: (target, task, number, start), memory, timeout, starting)


def _run(job: tuple[Target, Any, int, int], pipes: WorkerPipes) -> None:
    target, task, number, start = job
    target(task, number, start, pipes)
