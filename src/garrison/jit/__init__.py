"""The one kernel decorator, its compile cache, and the only place that knows Numba.

Stock `cache=True` keeps stale machine code when another file changes (the callee is inlined into the caller, but only
the caller's file is watched) and when `NUMBA_BOUNDSCHECK` changes: see `stamp`. And the process that compiles runs
other machine code than it keeps: see `library`.

`NUMBA_DISABLE_JIT=1` makes every kernel plain Python with the same results, to step through with a debugger.
"""

from collections.abc import Callable
from typing import Any, TypeVar, overload

import numba
import numpy as np
from numba.core import config

from garrison.jit.cache import KernelCache, cache_folder
from garrison.jit.library import ApartCompiler, KernelCompiler

__all__ = ["COMPILED", "cache_folder", "is_compiled", "kernel", "plain", "records"]

COMPILED: bool = not config.DISABLE_JIT

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)


# What `fastmath=True` allows: other orders of summation and fused multiply-adds, so that loops over floats become
# vector instructions. Assuming that there is no NaN or infinity is not allowed: those must stay visible.
FASTMATH = {"contract", "reassoc", "nsz", "arcp"}


@overload
def kernel(function: F) -> F: ...
@overload
def kernel(*, cached: bool = False, fastmath: bool = False, apart: bool = False) -> Callable[[F], F]: ...
def kernel(function: Any = None, *, cached: bool = False, fastmath: bool = False, apart: bool = False) -> Any:
    """Compile `function` on its first call.

    Functions called from Python say `cached=True` and are kept on disk; the ones they call are compiled into them.
    The flags: `nogil`, so that a batch can be split over Python threads; the numpy error model, because a check for a
    zero divisor costs a branch and no kernel divides by a variable; no `fastmath` unless asked for, because it may
    change results (learning kernels ask for it and are tested against torch; the simulator never does); no `parallel`,
    because its threads die in forked children. A large loop says `apart=True`: inside of a caller's own loops the
    compiler makes slower code of it.
    """

    def build(function: Function) -> Any:
        if not COMPILED:
            return function
        flags = {"nogil": True, "error_model": "numpy", "fastmath": FASTMATH if fastmath else False}
        compiled = numba.njit(**flags, pipeline_class=ApartCompiler if apart else KernelCompiler)(function)
        if cached:
            compiled._cache = KernelCache(function)
        return compiled

    return build if function is None else build(function)


def records(array: Any) -> Any:
    """Return `array` as kernels want it: plain Python needs a recarray for `env.field`, a compiled call none."""
    return array if COMPILED else array.view(np.recarray)


def plain(function: F) -> F:
    """Return the Python function behind a kernel: for calls at import, which must not compile anything."""
    return getattr(function, "py_func", function)


def is_compiled(*kernels: Any) -> bool:
    """Return whether every kernel has machine code in the cache or in memory, without compiling any."""
    return all(k.signatures or k._cache.files() for k in kernels) if COMPILED else True
