"""The two convolutional encoders of the literature, for images of shape (channels, height, width)."""

import math
from itertools import pairwise

import torch
from gymnasium import spaces
from torch import Tensor, nn

from garrison.errors import UserError
from garrison.learn.nn.leaf_encoder import LeafEncoder

IMPALA_CHANNELS = (16, 32, 32)


class Nature(LeafEncoder):
    """Three strided convolutions (Mnih et al., 2015); the dense layers behind it are the policy's."""

    def __init__(self, space: spaces.Box) -> None:
        super().__init__()
        channels, height, width = space.shape
        self.layers = nn.Sequential(
            nn.Conv2d(channels, 32, kernel_size=8, stride=4),
            nn.ReLU(inplace=True),
            nn.Conv2d(32, 64, kernel_size=4, stride=2),
            nn.ReLU(inplace=True),
            nn.Conv2d(64, 64, kernel_size=3, stride=1),
            nn.ReLU(inplace=True),
        )
        rows, columns = (_after_nature(side) for side in (height, width))
        if min(rows, columns) < 1:
            raise UserError(
                f"images of {height}x{width} are too small for the encoder 'nature', which needs 36x36; use 'impala'."
            )
        self.outputs = 64 * rows * columns

    def forward(self, x: Tensor) -> Tensor:
        """Return the last feature maps, flattened."""
        features: Tensor = self.layers(x)
        return features.flatten(1)


def _after_nature(side: int) -> int:
    for kernel, stride in ((8, 4), (4, 2), (3, 1)):
        side = (side - kernel) // stride + 1
    return side


class Impala(LeafEncoder):
    """Three stages of a convolution, a pooling and two residual blocks (Espeholt et al., 2018); for any size."""

    def __init__(self, space: spaces.Box) -> None:
        super().__init__()
        channels, height, width = space.shape
        self.stages = nn.Sequential(*(_Stage(a, b) for a, b in pairwise((channels, *IMPALA_CHANNELS))))
        for _ in IMPALA_CHANNELS:
            height, width = (height + 1) // 2, (width + 1) // 2
        self.outputs = IMPALA_CHANNELS[-1] * height * width

    def forward(self, x: Tensor) -> Tensor:
        """Return the last feature maps, flattened."""
        return torch.relu(self.stages(x)).flatten(1)

    @torch.no_grad()
    def draw_weights(self, generator: torch.Generator) -> None:
        """Make what the residual blocks add small, so that six of them together do not blow up what they are given."""
        super().draw_weights(generator)
        blocks = [module for module in self.modules() if isinstance(module, _Residual)]
        for block in blocks:
            block.second.weight.div_(math.sqrt(len(blocks)))


class _Stage(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(inputs, outputs, kernel_size=3, padding=1)
        self.pooling = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.blocks = nn.Sequential(_Residual(outputs), _Residual(outputs))

    def forward(self, x: Tensor) -> Tensor:
        features: Tensor = self.blocks(self.pooling(self.convolution(x)))
        return features


class _Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, kernel_size=3, padding=1)
        self.second = nn.Conv2d(channels, channels, kernel_size=3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        change: Tensor = self.second(torch.relu(self.first(torch.relu(x))))
        return x + change
