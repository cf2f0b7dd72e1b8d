"""An encoder of a user's own, named as module:Class."""

from typing import Any

import torch
from torch import Tensor, nn


class Sums(nn.Module):
    """The numbers, and their sum through a layer."""

    outputs = 5

    def __init__(self, space: Any) -> None:
        super().__init__()
        self.layer = nn.Linear(space.shape[0] + 1, self.outputs)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.layer(torch.cat((x, x.sum(1, keepdim=True)), dim=1)))
