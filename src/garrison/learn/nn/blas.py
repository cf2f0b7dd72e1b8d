"""Single-precision matrix products that compiled code can call without Python's lock.

Torch ships a BLAS library, but each call through Python takes the interpreter's lock, and two threads that take it
dozens of times a millisecond mostly wait for one another. So the library's own `sgemm` is looked up once and handed to
the kernels as a function pointer. It is column-major: the product's operands appear in reverse.
"""

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.jit import kernel

Floats = NDArray[np.float32]

PLAIN, TRANSPOSED = 0, 1


@cache
def find_sgemm() -> Any:
    """Return the `sgemm` (with 64-bit sizes) that torch or numpy brings along, or None."""
    found = (_load(path, name) for path, name in _places())
    return next((sgemm for sgemm in found if sgemm is not None), None)


def _places() -> list[tuple[Path, str]]:
    import torch

    torch_library = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    numpy_libraries = (Path(np.__file__).parent.parent / "numpy.libs").glob("libscipy_openblas64_*.so")
    return [(torch_library, "sgemm_64_"), *((path, "scipy_sgemm_64_") for path in sorted(numpy_libraries))]


def _load(path: Path, name: str) -> Any:
    try:
        library = ctypes.CDLL(str(path))
        sgemm = getattr(library, name)
    except (OSError, AttributeError):
        return None
    sgemm.argtypes = [ctypes.c_void_p] * 13
    sgemm.restype = None
    if name == "scipy_sgemm_64_":
        # Torch's library follows torch's number of threads, which is set where it is used; numpy's has its own.
        library.scipy_openblas_set_num_threads64_(1)
    return sgemm


@kernel
def new_call() -> Any:
    """Return the memory through which a kernel passes numbers to `sgemm`."""
    return np.array([78, 84], np.uint8), np.empty(6, np.int64), np.array([1.0, 0.0], np.float32)


@kernel
def _product(
    sgemm: Any,
    call: Any,
    first: int,
    second: int,
    columns: int,
    rows: int,
    depth: int,
    a: Floats,
    width_a: int,
    b: Floats,
    width_b: int,
    beta: float,
    c: Floats,
    width_c: int,
) -> None:
    letters, sizes, factors = call
    sizes[0], sizes[1], sizes[2] = columns, rows, depth
    sizes[3], sizes[4], sizes[5] = width_a, width_b, width_c
    factors[1] = beta
    sgemm(
        letters[first:].ctypes,
        letters[second:].ctypes,
        sizes.ctypes,
        sizes[1:].ctypes,
        sizes[2:].ctypes,
        factors.ctypes,
        a.ctypes,
        sizes[3:].ctypes,
        b.ctypes,
        sizes[4:].ctypes,
        factors[1:].ctypes,
        c.ctypes,
        sizes[5:].ctypes,
    )


@kernel
def outputs_of(
    sgemm: Any, call: Any, x: Floats, weight: Floats, y: Floats, width_y: int, n: int, inputs: int, outputs: int
) -> None:
    """Write x @ weight.T into `y`, for x (n, inputs), weight (outputs, inputs) and y (n, outputs of width_y)."""
    _product(sgemm, call, TRANSPOSED, PLAIN, outputs, n, inputs, weight, inputs, x, inputs, 0.0, y, width_y)


@kernel
def input_slopes(
    sgemm: Any,
    call: Any,
    dy: Floats,
    width_y: int,
    weight: Floats,
    dx: Floats,
    n: int,
    inputs: int,
    outputs: int,
    beta: float,
) -> None:
    """Write dy @ weight into `dx`, or add it if beta is 1."""
    _product(sgemm, call, PLAIN, PLAIN, inputs, n, outputs, weight, inputs, dy, width_y, beta, dx, inputs)


@kernel
def add_weight_slopes(
    sgemm: Any, call: Any, dy: Floats, width_y: int, x: Floats, dweight: Floats, n: int, inputs: int, outputs: int
) -> None:
    """Add dy.T @ x to `dweight`."""
    _product(sgemm, call, PLAIN, TRANSPOSED, inputs, outputs, n, x, inputs, dy, width_y, 1.0, dweight, inputs)
