"""A clock for compiled code: where the time of a call goes, without coming back to Python to ask."""

import ctypes
import time
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from garrison.jit import kernel

_CLOCK = time.CLOCK_MONOTONIC
_SECOND = 1_000_000_000  # nanoseconds


class KernelClock(NamedTuple):
    """One thread's."""

    gettime: Any
    """The system's `clock_gettime`."""
    moment: NDArray[np.int64]
    """Seconds and nanoseconds, written."""


@cache
def _clock_gettime() -> Any:
    function = ctypes.CDLL(None).clock_gettime
    function.argtypes, function.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_int
    return function


def make_clock() -> KernelClock:
    """Return a clock for one thread."""
    return KernelClock(_clock_gettime(), np.zeros(2, np.int64))


@kernel
def nanoseconds(clock: KernelClock) -> int:
    """Return the time since some moment in the past; it takes some 30 nanoseconds to ask."""
    clock.gettime(_CLOCK, clock.moment.ctypes)
    now: int = clock.moment[0] * _SECOND + clock.moment[1]
    return now
