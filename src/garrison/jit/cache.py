"""Where machine code is kept between processes."""

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core import caching

from garrison.jit.stamp import source_stamp

Function = Callable[..., Any]


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


class _KernelLocator(caching._CacheLocator):  # type: ignore[misc]
    """Tells Numba where a kernel's cache lies and what makes it stale."""

    def __init__(self, function: Function, file: str) -> None:
        package = Path(file).parent
        place = hashlib.sha256(str(package).encode()).hexdigest()[:12]
        self._folder = cache_folder() / f"{package.name}-{place}"
        self._line = function.__code__.co_firstlineno
        self._stamp = source_stamp(function.__module__, Path(file))

    def ensure_cache_path(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        # Two stamps never share a file, so processes with and without bounds checks do not evict each other.
        return f"{self._line}-{self._stamp[:12]}"

    @classmethod
    def from_function(cls, py_func: Function, py_file: str) -> "_KernelLocator":
        return cls(py_func, py_file)


class _KernelCacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_KernelLocator,)


class KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """Numba's cache, kept in our folder for as long as the sources stay as they are."""

    _impl_class = _KernelCacheImpl

    def files(self) -> list[Path]:
        """Return the files that hold the kernel's machine code, one for each combination of types."""
        return list(Path(self._cache_path).glob(f"{self._impl.filename_base}.*.nbc"))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the machine code for arguments of these types, or None."""
        try:
            return super().load_overload(sig, target_context)
        except OSError:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep machine code for later processes, if the folder can be written."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            # A read-only or full cache folder costs the next process a compile; this one goes on.
            print(f"garrison: compiled kernels are not kept: {error}", file=sys.stderr)
