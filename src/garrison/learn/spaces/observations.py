"""How observations are stored in a rollout and given to a network: one form per kind of space.

A new form is a subclass of `ObservationForm` and a line in `registry.py`. Images are in `images.py`, dictionaries and
tuples in `composite_observations.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from garrison.jit import kernel

if TYPE_CHECKING:
    import torch

Array = NDArray[Any]
Rows = NDArray[np.int64]
Inputs = tuple["torch.Tensor", ...]
"""What a policy reads: float32, (batch, *input_shape), one tensor per leaf of the observation space."""

BITS_OF_BYTE = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(np.float32)  # (256, 8)


class ObservationForm(ABC):
    """Stores observations compactly and turns them into network inputs."""

    encoder: str = "mlp"
    """The name in `garrison.learn.nn.encoders` of the network that reads the inputs where the settings name none."""
    is_measured: ClassVar[bool] = False
    """Whether the inputs are plain numbers of any size, which `normalise_observations` scales."""
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

    def tensors(self, stored: Array, rows: Rows, device: "torch.device") -> "Inputs":
        """Return the network inputs of the stored observations `rows`, a tensor for each of `leaves`."""
        import torch

        inputs = np.empty((len(rows), *self.input_shape), np.float32)
        self.inputs(stored, rows, inputs)
        return self.split(torch.from_numpy(inputs).to(device))

    def split(self, inputs: "torch.Tensor") -> "Inputs":
        """Return what `inputs` wrote, flat or not, as a tensor for each of `leaves`."""
        return (inputs.reshape(-1, *self.input_shape),)

    def structure(self, inputs: "Inputs") -> Any:
        """Return the tensors in the shape of the space: what a user's own encoder is given."""
        return inputs[0]

    def empty(self, count: int) -> Array:
        """Return memory for `count` stored observations."""
        return np.empty((count, *self.shape), self.dtype)

    @property
    def leaves(self) -> "tuple[ObservationForm, ...]":
        """The forms of the parts of a dictionary or tuple; of any other space, only this one."""
        return (self,)

    @property
    def input_space(self) -> spaces.Space[Any]:
        """The space of what a network is given of one observation."""
        return spaces.Box(-np.inf, np.inf, self.input_shape, np.float32)

    @property
    def size(self) -> int:
        """The number of network inputs."""
        return prod(self.input_shape)


def encoder_name(leaf: ObservationForm, setting: str) -> str:
    """Return the encoder of one leaf under the setting `encoder`; convolutions are for images only."""
    if setting == "auto":
        return leaf.encoder
    return setting if len(leaf.input_shape) == 3 else "mlp"


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
        pack(np.asarray(observations).reshape(len(out), -1), out)

    def inputs(self, stored: Array, rows: Rows, out: NDArray[np.float32]) -> None:
        """Unpack the bits."""
        _unpack(stored, rows, BITS_OF_BYTE, out)


class IndexForm(ObservationForm):
    """Discrete and MultiDiscrete: indices are stored, the network sees each one-hot."""

    def __init__(self, space: spaces.Discrete | spaces.MultiDiscrete) -> None:
        super().__init__(space)
        sizes = np.array([space.n]) if isinstance(space, spaces.Discrete) else space.nvec.reshape(-1)
        self._start = np.asarray(space.start).reshape(-1)
        self._begins = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        self.input_shape, self.shape, self.dtype = (int(sizes.sum()),), (len(sizes),), np.dtype(np.int32)

    @classmethod
    def accepts(cls, space: spaces.Space[Any]) -> bool:
        """Return whether the space is Discrete or MultiDiscrete."""
        return isinstance(space, spaces.Discrete | spaces.MultiDiscrete)

    def store(self, observations: Any, out: Array) -> None:
        """Store indices that start at 0."""
        np.subtract(np.asarray(observations).reshape(len(out), -1), self._start, out=out, casting="unsafe")

    def inputs(self, stored: Array, rows: Rows, out: NDArray[np.float32]) -> None:
        """Write one-hot rows."""
        out[:] = 0.0
        out[np.arange(len(rows))[:, None], stored[rows] + self._begins] = 1.0


class NumbersForm(ObservationForm):
    """Any other Box, flattened: small integers as they are, everything else as float32."""

    is_measured = True

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
def pack(flat: Array, out: Array) -> None:
    """Write rows of numbers as bits, eight to a byte: whether each is other than 0."""
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
