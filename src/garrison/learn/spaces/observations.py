"""How observations are stored in a rollout and given to a network: one form per kind of space.

A new form is a subclass of `ObservationForm` and a line in `registry.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from garrison.jit import kernel

Array = NDArray[Any]
Rows = NDArray[np.int64]

BITS_OF_BYTE = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(np.float32)  # (256, 8)


class ObservationForm(ABC):
    """Stores observations compactly and turns them into network inputs."""

    encoder: ClassVar[str] = "mlp"
    """The name in `garrison.learn.nn.encoders` of the network that reads the inputs."""
    input_shape: tuple[int, ...]
    """Of one observation's network inputs, which are float32."""
    shape: tuple[int, ...]
    """Of one stored observation."""
    dtype: np.dtype[Any]
    """Of one stored observation."""

    def __init__(self, space: spaces.Space[Any]) -> None:
        self.space = space

    @classmethod
    @abstractmethod
    def accepts(cls, space: spaces.Space[Any]) -> bool:
        """Return whether this form is for `space`."""

    @abstractmethod
    def store(self, observations: Any, out: Array) -> None:
        """Write a batch of observations, as a vector environment shows them, into `out`: (N, *shape)."""

    @abstractmethod
    def inputs(self, stored: Array, rows: Rows, out: NDArray[np.float32]) -> None:
        """Write the network inputs of the stored observations `rows` into `out`: (len(rows), *input_shape)."""

    def batch(self, observations: Sequence[Any]) -> Any:
        """Return single observations as the batch that `store` takes."""
        return np.stack(observations)

    def empty(self, count: int) -> Array:
        """Return memory for `count` stored observations."""
        return np.empty((count, *self.shape), self.dtype)

    @property
    def size(self) -> int:
        """The number of network inputs."""
        return prod(self.input_shape)


class BitsForm(ObservationForm):
    """Zeros and ones, eight to a byte."""

    def __init__(self, space: spaces.Space[Any]) -> None:
        super().__init__(space)
        size = prod(space.shape or ())
        self.input_shape, self.shape, self.dtype = (size,), ((size + 7) // 8,), np.dtype(np.uint8)

    @classmethod
    def accepts(cls, space: spaces.Space[Any]) -> bool:
        """Return whether the space holds only zeros and ones."""
        if isinstance(space, spaces.Box):
            return space.dtype.kind in "iub" and bool(np.all(space.low >= 0) and np.all(space.high <= 1))
        return isinstance(space, spaces.MultiBinary)

    def store(self, observations: Any, out: Array) -> None:
        """Pack the bits."""
        _pack(np.asarray(observations).reshape(len(out), -1), out)

    def inputs(self, stored: Array, rows: Rows, out: NDArray[np.float32]) -> None:
        """Unpack the bits."""
        _unpack(stored, rows, BITS_OF_BYTE, out)


class IndexForm(ObservationForm):
    """A Discrete observation: its index is stored, the network sees it one-hot."""

    def __init__(self, space: spaces.Discrete) -> None:
        super().__init__(space)
        self.input_shape, self.shape, self.dtype = (int(space.n),), (1,), np.dtype(np.int32)
        self._start = int(space.start)

    @classmethod
    def accepts(cls, space: spaces.Space[Any]) -> bool:
        """Return whether the space is Discrete."""
        return isinstance(space, spaces.Discrete)

    def store(self, observations: Any, out: Array) -> None:
        """Store indices that start at 0."""
        np.subtract(np.asarray(observations).reshape(len(out), -1), self._start, out=out, casting="unsafe")

    def inputs(self, stored: Array, rows: Rows, out: NDArray[np.float32]) -> None:
        """Write one-hot rows."""
        out[:] = 0.0
        out[np.arange(len(rows)), stored[rows, 0]] = 1.0


class NumbersForm(ObservationForm):
    """Any other Box, flattened: small integers as they are, everything else as float32."""

    def __init__(self, space: spaces.Box) -> None:
        super().__init__(space)
        is_small = space.dtype.kind in "iu" and space.dtype.itemsize <= 2
        self.input_shape = self.shape = (prod(space.shape),)
        self.dtype = space.dtype if is_small else np.dtype(np.float32)

    @classmethod
    def accepts(cls, space: spaces.Space[Any]) -> bool:
        """Return whether the space is a Box."""
        return isinstance(space, spaces.Box)

    def store(self, observations: Any, out: Array) -> None:
        """Copy the numbers."""
        np.copyto(out, np.asarray(observations).reshape(len(out), -1), casting="unsafe")

    def inputs(self, stored: Array, rows: Rows, out: NDArray[np.float32]) -> None:
        """Convert the numbers."""
        _convert(stored, rows, out)


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
