"""What every encoder of ours has: a width, and weights that it draws itself."""

from math import sqrt

import torch
from torch import nn

from garrison.learn.nn.initial import draw_weights


class LeafEncoder(nn.Module):
    """Reads one leaf of an observation, a batch (B, *space.shape), into features, (B, outputs).

    It is made with the space of what it will be given, and its weights are drawn afterwards.
    """

    outputs: int

    def draw_weights(self, generator: torch.Generator) -> None:
        """Draw orthogonal weights with the gain of PPO's original code."""
        draw_weights(self, sqrt(2), generator)
