"""Workloads that benches can measure in a test: one that sleeps and one that fails."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from garrison.bench.method.fresh import Work


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
