"""How observations are stored and fed to a network, and how a network's outputs become actions."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from garrison.errors import UserError
from garrison.jit import kernel

Array = NDArray[Any]

BITS_OF_BYTE = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(np.float32)  # (256, 8)


class Observations:
    """Stores observations compactly and unfolds them into network inputs.

    Zeros and ones are stored as bits, a Discrete observation as its index (the network sees one-hot), small integers
    as they are, everything else as float32.
    """

    size: int  # inputs of the network
    shape: tuple[int, ...]  # of one stored observation
    dtype: np.dtype[Any]  # of one stored observation

    def __init__(self, space: spaces.Space[Any]) -> None:
        self.space = space
        self._start = 0
        if isinstance(space, spaces.Discrete):
            self._kind, self.size, self.shape, self.dtype = "index", int(space.n), (1,), np.dtype(np.int32)
            self._start = int(space.start)
        elif isinstance(space, spaces.MultiBinary) or (isinstance(space, spaces.Box) and _holds_bits(space)):
            self._kind, self.size = "bits", int(np.prod(space.shape))
            self.shape, self.dtype = ((self.size + 7) // 8,), np.dtype(np.uint8)
        elif isinstance(space, spaces.Box):
            small = space.dtype.kind in "iu" and space.dtype.itemsize <= 2
            self._kind, self.size = "numbers", int(np.prod(space.shape))
            self.shape, self.dtype = (self.size,), space.dtype if small else np.dtype(np.float32)
        else:
            raise UserError(
                f"cannot learn from {space}: observations must be Box, Discrete or MultiBinary; "
                "gymnasium.wrappers.vector.FlattenObservation turns others into a Box."
            )

    def store(self, observations: Array, out: Array) -> None:
        """Write a batch of observations into `out`: (N, *shape)."""
        flat = observations.reshape(len(out), -1)
        if self._kind == "bits":
            _pack(flat, out)
        elif self._kind == "index":
            np.subtract(flat, self._start, out=out, casting="unsafe")
        else:
            np.copyto(out, flat, casting="unsafe")

    def inputs(self, stored: Array, rows: NDArray[np.int64], out: NDArray[np.float32]) -> None:
        """Write the network inputs of the stored observations `rows` into `out`: (len(rows), size)."""
        if self._kind == "bits":
            _unpack(stored, rows, BITS_OF_BYTE, out)
        elif self._kind == "index":
            out[:] = 0.0
            out[np.arange(len(rows)), stored[rows, 0]] = 1.0
        else:
            _convert(stored, rows, out)


def _holds_bits(space: spaces.Box) -> bool:
    return space.dtype.kind in "iub" and bool(np.all(space.low >= 0) and np.all(space.high <= 1))


@kernel(cached=True)
def _pack(flat: Array, out: Array) -> None:
    for i in range(flat.shape[0]):
        for k in range(out.shape[1]):
            byte = np.uint8(0)
            for b in range(min(8, flat.shape[1] - 8 * k)):
                byte |= np.uint8(np.uint8(flat[i, 8 * k + b] != 0) << np.uint8(b))
            out[i, k] = byte


@kernel(cached=True)
def _unpack(stored: Array, rows: Array, bits_of_byte: Array, out: Array) -> None:
    size = out.shape[1]
    whole = size // 8
    for i in range(rows.shape[0]):
        bits = stored[rows[i]]
        for k in range(whole):
            for b in range(8):
                out[i, 8 * k + b] = bits_of_byte[bits[k], b]
        for b in range(size - 8 * whole):
            out[i, 8 * whole + b] = bits_of_byte[bits[whole], b]


@kernel(cached=True)
def _convert(stored: Array, rows: Array, out: Array) -> None:
    for i in range(rows.shape[0]):
        row = stored[rows[i]]
        for j in range(out.shape[1]):
            out[i, j] = np.float32(row[j])


class Actions:
    """Splits a network's outputs into one head a choice, and turns head indices into actions of the space."""

    sizes: tuple[int, ...]  # choices of each head
    offsets: NDArray[np.int64]  # (heads + 1,): where each head begins among the outputs

    def __init__(self, space: spaces.Space[Any]) -> None:
        self.space = space
        if isinstance(space, spaces.Discrete):
            self.sizes, self._start = (int(space.n),), np.array([space.start])
        elif isinstance(space, spaces.MultiDiscrete):
            self.sizes = tuple(int(n) for n in space.nvec.reshape(-1))
            self._start = np.asarray(space.start).reshape(-1)
        else:
            raise UserError(f"cannot act in {space}: actions must be Discrete or MultiDiscrete.")
        self.offsets = np.concatenate(([0], np.cumsum(self.sizes))).astype(np.int64)

    @property
    def heads(self) -> int:
        """The number of choices that make one action."""
        return len(self.sizes)

    @property
    def size(self) -> int:
        """The number of outputs over all heads."""
        return int(self.offsets[-1])

    def of_indices(self, indices: Array) -> Array:
        """Turn head indices (N, heads) into a batch of actions of the space."""
        shape = self.space.shape
        assert shape is not None
        actions: Array = indices.astype(np.int64) + self._start
        return actions.reshape(len(indices), *shape)
