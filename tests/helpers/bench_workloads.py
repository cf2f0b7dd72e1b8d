"""Workloads that benches can measure in a test: one that sleeps, others that fail."""

import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from garrison.bench.method.fresh import Work
from garrison.bench.method.fresh_process import Report


@contextmanager
def nap(milliseconds: float) -> Iterator[Work]:
    """Sleep, and count ten steps."""

    def advance() -> int:
        time.sleep(milliseconds / 1000)
        return 10

    yield Work(advance, lambda: {"answer": 42.0})


@contextmanager
def broken() -> Iterator[Work]:
    """Fail before there is any work."""
    raise RuntimeError("the workload is broken")
    yield


def answer_and_fail(report: Report, number: int) -> None:
    """Report, and then fail."""
    report({"number": number})
    raise RuntimeError("too late to matter")


@contextmanager
def restless(file: str) -> Iterator[Work]:
    """Work on in a process of its own, whether anybody asks or not: it writes the time into `file` all the time."""
    context = multiprocessing.get_context("fork")
    count = context.RawValue("q", 0)

    def work() -> None:
        with Path(file).open("a", buffering=1) as out:
            while True:
                time.sleep(0.001)
                count.value += 1
                out.write(f"{time.monotonic_ns()}\n")

    process = context.Process(target=work, daemon=True)
    process.start()
    seen = 0

    def advance() -> int:
        nonlocal seen
        time.sleep(0.005)
        before, seen = seen, int(count.value)
        return seen - before

    yield Work(advance, lambda: {"pid": float(process.pid or 0)})


@contextmanager
def dies_at(advances: int) -> Iterator[Work]:
    """Fail at an advance."""
    left = advances

    def advance() -> int:
        nonlocal left
        left -= 1
        if left < 0:
            raise RuntimeError("it died on the way")
        time.sleep(0.01)
        return 1

    yield Work(advance)
