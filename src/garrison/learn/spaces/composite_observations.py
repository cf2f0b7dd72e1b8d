"""Dict and Tuple observations: each part in its own form, side by side in one row of bytes."""

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from garrison.learn.spaces.observations import Array, Inputs, ObservationForm, Rows

if TYPE_CHECKING:
    import torch

ALIGNMENT = 8  # bytes: what any number may begin at


class CompositeForm(ObservationForm):
    """A Dict or Tuple, nested as deep as one likes: as one row of bytes, so that rollouts and actors need not know."""

    def __init__(self, space: "spaces.Dict | spaces.Tuple[Any]") -> None:
        from garrison.learn.spaces.registry import observation_form

        super().__init__(space)
        self._keys: list[Any] = list(space.spaces) if isinstance(space, spaces.Dict) else list(range(len(space.spaces)))
        self._parts = [observation_form(space[key]) for key in self._keys]
        self._begins, end = [], 0
        for part in self._parts:
            self._begins.append(end)
            end += -(-prod(part.shape) * part.dtype.itemsize // ALIGNMENT) * ALIGNMENT
        self.shape, self.dtype = (end,), np.dtype(np.uint8)
        self.input_shape = (sum(part.size for part in self._parts),)

    @classmethod
    def accepts(cls, space: spaces.Space[Any]) -> bool:
        """Return whether the space is a Dict or a Tuple."""
        return isinstance(space, spaces.Dict | spaces.Tuple)

    def store(self, observations: Any, out: Array) -> None:
        """Store each part in its columns."""
        for key, part, stored in zip(self._keys, self._parts, self._stored(out), strict=True):
            part.store(observations[key], stored)

    def inputs(self, stored: Array, rows: Rows, out: NDArray[np.float32]) -> None:
        """Write the parts' inputs one after the other."""
        begin = 0
        for part, own in zip(self._parts, self._stored(stored), strict=True):
            part.inputs(own, rows, out[:, begin : begin + part.size].reshape(len(rows), *part.input_shape))
            begin += part.size

    def tensors(self, stored: Array, rows: Rows, device: "torch.device") -> Inputs:
        """Return each leaf's inputs as the leaf makes them."""
        parts = zip(self._parts, self._stored(stored), strict=True)
        return tuple(tensor for part, own in parts for tensor in part.tensors(own, rows, device))

    def split(self, inputs: "torch.Tensor") -> Inputs:
        """Return what `inputs` wrote as a tensor per leaf."""
        import torch

        columns = torch.split(inputs, [part.size for part in self._parts], dim=1)
        return tuple(leaf for part, own in zip(self._parts, columns, strict=True) for leaf in part.split(own))

    def structure(self, inputs: Inputs) -> Any:
        """Return a dict or tuple of the parts' tensors."""
        found, left = [], list(inputs)
        for part in self._parts:
            count = len(part.leaves)
            found.append(part.structure(tuple(left[:count])))
            del left[:count]
        return dict(zip(self._keys, found, strict=True)) if isinstance(self.space, spaces.Dict) else tuple(found)

    def batch(self, observations: Sequence[Any]) -> Any:
        """Return single observations as a dict or tuple of batches."""
        parts = [
            part.batch([each[key] for each in observations]) for key, part in zip(self._keys, self._parts, strict=True)
        ]
        return dict(zip(self._keys, parts, strict=True)) if isinstance(self.space, spaces.Dict) else tuple(parts)

    def empty(self, count: int) -> Array:
        """Return memory for `count` stored observations; zeros, because nobody writes between the parts."""
        return np.zeros((count, *self.shape), self.dtype)

    @property
    def leaves(self) -> tuple[ObservationForm, ...]:
        """The forms of all parts that are not dictionaries or tuples themselves, in their order."""
        return tuple(leaf for part in self._parts for leaf in part.leaves)

    @property
    def input_space(self) -> spaces.Space[Any]:
        """A Dict or Tuple of the parts' input spaces."""
        parts = [part.input_space for part in self._parts]
        if isinstance(self.space, spaces.Dict):
            return spaces.Dict(dict(zip(self._keys, parts, strict=True)))
        return spaces.Tuple(parts)

    def _stored(self, rows: Array) -> Iterator[Array]:
        """Return views of the parts' columns as each part stores them."""
        for part, begin in zip(self._parts, self._begins, strict=True):
            end = begin + prod(part.shape) * part.dtype.itemsize
            yield rows[:, begin:end].view(part.dtype).reshape(len(rows), *part.shape)
