"""One thread per worker: W workers whose math libraries start a thread per core each are slower than one process."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import threadpoolctl

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)


@contextmanager
def environment(others: Mapping[str, str] | None = None) -> Iterator[None]:
    """Set the libraries' variables to one thread for children started inside, and `others`; restore them afterwards."""
    variables = dict.fromkeys(VARIABLES, "1") | dict(others or {})
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
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
    threadpoolctl.threadpool_limits(1)
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
