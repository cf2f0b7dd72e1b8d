"""Workloads that benches can measure in a test: one that sleeps, others that fail."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

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
