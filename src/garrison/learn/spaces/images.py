"""Images: stored as the bytes that the environment shows; the network sees channels first, from 0 to 1."""

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from garrison.learn.spaces.observations import Array, Inputs, ObservationForm, Rows

if TYPE_CHECKING:
    import torch

BRIGHTEST = 255
SMALLEST_SIDE = 2  # a narrower Box of bytes is a list of numbers
NATURE_SIDE = 36  # the least that the three convolutions of the `nature` network leave something of


class ImageForm(ObservationForm):
    """A Box of bytes from 0 to 255 with two axes (grey), or three with the channels first or last.

    Channels are the smaller of the first and the last axis, the last if they are equal. A fourth axis before these,
    such as that of stacked frames, is joined with the channels.
    """

    def __init__(self, space: spaces.Box) -> None:
        super().__init__(space)
        self.shape, self.dtype = space.shape, np.dtype(np.uint8)
        picture = space.shape[-3:]
        if len(picture) == 2:
            self.to_channels_first: tuple[int, ...] = (0, 1, 2)  # of (batch, height, width)
            height, width = picture
            channels = 1
        elif picture[0] < picture[2]:
            self.to_channels_first = tuple(range(len(space.shape) + 1))
            channels, height, width = picture
        else:
            last = len(space.shape)
            self.to_channels_first = (*range(last - 2), last, last - 2, last - 1)
            height, width, channels = picture
        frames = space.shape[0] if len(space.shape) == 4 else 1
        self.input_shape = (frames * channels, height, width)
        self.encoder = "nature" if min(height, width) >= NATURE_SIDE else "impala"

    @classmethod
    def accepts(cls, space: spaces.Space[Any]) -> bool:
        """Return whether the space is one of images."""
        if not isinstance(space, spaces.Box) or space.dtype != np.uint8 or not 2 <= len(space.shape) <= 4:
            return False
        is_bright = bool(np.all(space.low == 0) and np.all(space.high == BRIGHTEST))
        return is_bright and sorted(space.shape)[-2] >= SMALLEST_SIDE

    def store(self, observations: Any, out: Array) -> None:
        """Copy the bytes."""
        out[:] = observations

    def inputs(self, stored: Array, rows: Rows, out: NDArray[np.float32]) -> None:
        """Scale to 0..1, channels first."""
        first = stored[rows].transpose(self.to_channels_first).reshape(len(rows), *self.input_shape)
        np.divide(first, np.float32(BRIGHTEST), out=out.reshape(len(rows), *self.input_shape))

    def tensors(self, stored: Array, rows: Rows, device: "torch.device") -> Inputs:
        """Scale to 0..1 on the device: a quarter of the bytes travel, and torch divides with all its threads."""
        import torch

        images = torch.from_numpy(stored[rows]).to(device).permute(self.to_channels_first)
        return (images.reshape(len(rows), *self.input_shape).float().div_(BRIGHTEST),)
