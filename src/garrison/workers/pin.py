"""One thread per worker: as many workers as cores, each with a math library that starts a thread per core, is the
oldest way to make parallel slower than serial.
"""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)

# How the libraries' own setters are called; NumPy's and SciPy's wheels rename OpenBLAS's.
SETTERS = (
    "openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "scipy_openblas_set_num_threads64_",
    "MKL_Set_Num_Threads",
    "omp_set_num_threads",
)


@contextmanager
def environment() -> Iterator[None]:
    """Set the libraries' variables to one thread for children started inside, and restore them afterwards."""
    before = {name: os.environ.get(name) for name in VARIABLES}
    os.environ.update(dict.fromkeys(VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def this_process() -> None:
    """Set math libraries that are already loaded to one thread: forked workers inherit them loaded."""
    os.environ.update(dict.fromkeys(VARIABLES, "1"))  # for what is loaded later, and for children
    _pin_numba()  # first: starting its threads resets OpenMP's count
    for library in _loaded_math_libraries():
        with suppress(OSError):
            handle = ctypes.CDLL(library)
            for name in SETTERS:
                setter = getattr(handle, name, None)
                if setter is not None:
                    setter(1)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def _pin_numba() -> None:
    if "numba" not in sys.modules:
        return
    numba = sys.modules["numba"]
    parallel = sys.modules.get("numba.np.ufunc.parallel")
    if parallel is not None and parallel._is_initialized:
        numba.set_num_threads(1)
    else:
        # set_num_threads() would start the threads that are to be avoided.
        numba.config.NUMBA_NUM_THREADS = 1


def _loaded_math_libraries() -> set[str]:
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return set()
    paths = {
        line.split(maxsplit=5)[5] for line in lines if line.count(" ") >= 5 and line.endswith((".so", ".0", ".1", ".2"))
    }
    marks = ("openblas", "libmkl_rt", "libgomp", "libiomp", "libomp")
    return {path for path in paths if any(mark in Path(path).name for mark in marks)}
