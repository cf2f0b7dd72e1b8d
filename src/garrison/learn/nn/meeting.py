"""Where threads inside compiled code wait for each other.

Waking a sleeping thread takes longer than a tenth of a minibatch of 512 samples. Threads that meet three times in each
minibatch stay awake instead: one that is early offers its core to whoever else wants it, and looks again.
"""

import ctypes
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from garrison.jit import kernel
from garrison.jit.atomics import Words, load, store

APART = 16
"""Numbers between the counts of two threads, so that no two share a cache line."""
GONE = 2**62
"""The count of a thread that comes to no further meeting."""


class Meeting(NamedTuple):
    """Who meets, and how many meetings each thread has come to."""

    threads: int
    counts: Words
    yield_core: Any
    """The system's `sched_yield`."""


@cache
def _sched_yield() -> Any:
    function = ctypes.CDLL(None).sched_yield
    function.argtypes, function.restype = [], ctypes.c_int
    return function


def make_meeting(threads: int) -> Meeting:
    """Return a place for `threads` threads."""
    return Meeting(threads, np.full(threads * APART, GONE, np.int64), _sched_yield())


def open_meeting(meeting: Meeting) -> None:
    """Make all threads come to meetings from now on; nobody may be in one."""
    meeting.counts[:] = 0


def leave(meeting: Meeting, me: int) -> None:
    """Keep nobody waiting for thread `me` any more."""
    meeting.counts[me * APART] = GONE


@kernel
def meet(meeting: Meeting, me: int) -> bool:
    """Wait until every thread has come as often as thread `me`, or is gone; return whether all have come."""
    counts = meeting.counts
    count = load(counts, me * APART) + 1
    store(counts, me * APART, count)
    all_came = True
    for other in range(meeting.threads):
        while load(counts, other * APART) < count:
            meeting.yield_core()
        all_came &= load(counts, other * APART) != GONE
    return all_came
