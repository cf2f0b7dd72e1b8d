"""Single-precision matrix products that compiled code can call without Python's lock.

Torch ships a BLAS library, but each call through Python takes the interpreter's lock, and two threads that take it
dozens of times a millisecond mostly wait for one another. So the library's own `sgemm` is looked up once and handed to
the kernels as a function pointer. It is column-major: the product's operands appear in reverse.
"""

import ctypes
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

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


class Blas(NamedTuple):
    """The function, and the memory through which a kernel passes numbers to it."""

    sgemm: Any
    letters: NDArray[np.uint8]
    sizes: NDArray[np.int64]
    factors: Floats


class Sizes(NamedTuple):
    """Of a layer's product: `n` samples of `inputs` numbers, in rows of `width_x`, become `n` of `outputs`."""

    n: int
    inputs: int
    outputs: int
    width_x: int


class Operand(NamedTuple):
    """A row-major matrix: its numbers, the width of its rows in memory, and PLAIN or TRANSPOSED."""

    numbers: Floats
    width: int
    order: int


@kernel
def new_blas(sgemm: Any) -> Blas:
    """Return what the products of one call of a kernel go through."""
    return Blas(sgemm, np.array([78, 84], np.uint8), np.empty(6, np.int64), np.array([1.0, 0.0], np.float32))


@kernel
def _product(blas: Blas, columns: int, rows: int, depth: int, a: Operand, b: Operand, c: Operand, beta: float) -> None:
    letters, sizes, factors = blas.letters, blas.sizes, blas.factors
    sizes[0], sizes[1], sizes[2] = columns, rows, depth
    sizes[3], sizes[4], sizes[5] = a.width, b.width, c.width
    factors[1] = beta
    blas.sgemm(
        letters[a.order :].ctypes,
        letters[b.order :].ctypes,
        sizes.ctypes,
        sizes[1:].ctypes,
        sizes[2:].ctypes,
        factors.ctypes,
        a.numbers.ctypes,
        sizes[3:].ctypes,
        b.numbers.ctypes,
        sizes[4:].ctypes,
        factors[1:].ctypes,
        c.numbers.ctypes,
        sizes[5:].ctypes,
    )


@kernel
def outputs_of(blas: Blas, sizes: Sizes, x: Floats, weight: Floats, y: Floats, width_y: int) -> None:
    """Write x @ weight.T into `y`, for x (n, inputs), weight (outputs, inputs) and y (n, outputs of width_y)."""
    n, inputs, outputs, width_x = sizes
    a, b, c = Operand(weight, inputs, TRANSPOSED), Operand(x, width_x, PLAIN), Operand(y, width_y, PLAIN)
    _product(blas, outputs, n, inputs, a, b, c, 0.0)


@kernel
def input_slopes(blas: Blas, sizes: Sizes, dy: Floats, width_y: int, weight: Floats, dx: Floats, beta: float) -> None:
    """Write dy @ weight into `dx`, or add it if beta is 1."""
    n, inputs, outputs, width_x = sizes
    a, b, c = Operand(weight, inputs, PLAIN), Operand(dy, width_y, PLAIN), Operand(dx, width_x, PLAIN)
    _product(blas, inputs, n, outputs, a, b, c, beta)


@kernel
def add_weight_slopes(blas: Blas, sizes: Sizes, dy: Floats, width_y: int, x: Floats, dweight: Floats) -> None:
    """Add dy.T @ x to `dweight`."""
    n, inputs, outputs, width_x = sizes
    a, b, c = Operand(x, width_x, PLAIN), Operand(dy, width_y, TRANSPOSED), Operand(dweight, inputs, PLAIN)
    _product(blas, inputs, outputs, n, a, b, c, 1.0)
