"""The one kernel decorator, its compile cache, and the only place that knows Numba.

Stock `cache=True` keeps stale machine code when a sibling file changes (the callee is inlined into the caller, but only
the caller's file is watched) and when `NUMBA_BOUNDSCHECK` changes. Here the stamp of a cached kernel covers every
source file of its package, this file, and the flags.

`NUMBA_DISABLE_JIT=1` makes every kernel plain Python with the same results, to step through with a debugger.
"""

import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
import numpy as np
from numba.core import caching, config

COMPILED: bool = not config.DISABLE_JIT

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)


# What `fastmath=True` allows: other orders of summation and fused multiply-adds, so that loops over floats become
# vector instructions. Assuming that there is no NaN or infinity is not allowed: those must stay visible.
FASTMATH = {"contract", "reassoc", "nsz", "arcp"}


@overload
def kernel(function: F) -> F: ...
@overload
def kernel(*, cached: bool = False, fastmath: bool = False) -> Callable[[F], F]: ...
def kernel(function: Any = None, *, cached: bool = False, fastmath: bool = False) -> Any:
    """Compile `function` on its first call.

    Functions called from Python say `cached=True` and are kept on disk; the ones they call are compiled into them.
    The flags: `nogil`, so that a batch can be split over Python threads; the numpy error model, because a check for a
    zero divisor costs a branch and no kernel divides by a variable; no `fastmath` unless asked for, because it may
    change results (learning kernels ask for it and are tested against torch; the simulator never does); no `parallel`,
    because its threads die in forked children.
    """

    def build(function: Function) -> Any:
        if not COMPILED:
            return function
        compiled = numba.njit(nogil=True, error_model="numpy", fastmath=FASTMATH if fastmath else False)(function)
        if cached:
            compiled._cache = _KernelCache(function)
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
    return all(k.signatures or any(_cache_files(k)) for k in kernels) if COMPILED else True


def cache_folder() -> Path:
    """Return the folder of compiled kernels: `GARRISON_CACHE_DIR`, or `garrison` in the user's cache folder."""
    if chosen := os.environ.get("GARRISON_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "garrison"


def source_stamp(package: Path) -> str:
    """Hash everything that the machine code of a kernel in `package` depends on."""
    digest = hashlib.sha256()
    digest.update(f"{numba.__version__} {sys.version} {config.BOUNDSCHECK} {config.OPT}".encode())
    for file in sorted(package.glob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    digest.update(Path(__file__).read_bytes())
    return digest.hexdigest()


_stamp = cache(source_stamp)  # one reading of the sources a process


class _KernelLocator(caching._CacheLocator):  # type: ignore[misc]
    """Tells Numba where a kernel's cache lies and what makes it stale."""

    def __init__(self, function: Function, file: str) -> None:
        self._package = Path(file).parent
        self._function = function
        place = hashlib.sha256(str(self._package).encode()).hexdigest()[:12]
        self._folder = cache_folder() / f"{self._package.name}-{place}"

    def ensure_cache_path(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return _stamp(self._package)

    def get_disambiguator(self) -> str:
        # Two stamps never share a file, so processes with and without bounds checks do not evict each other.
        return f"{self._function.__code__.co_firstlineno}-{_stamp(self._package)[:12]}"

    @classmethod
    def from_function(cls, py_func: Function, py_file: str) -> "_KernelLocator":
        return cls(py_func, py_file)


class _KernelCacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_KernelLocator,)


class _KernelCache(caching.FunctionCache):  # type: ignore[misc]
    _impl_class = _KernelCacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except OSError:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            # A read-only or full cache folder costs the next process a compile; this one goes on.
            print(f"garrison: compiled kernels are not kept: {error}", file=sys.stderr)


def _cache_files(compiled: Any) -> list[Path]:
    implementation = compiled._cache._impl
    folder = Path(implementation.locator.get_cache_path())
    return list(folder.glob(f"{implementation.filename_base}.*.nbc"))
