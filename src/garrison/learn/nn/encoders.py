"""Networks that turn an observation's inputs into features, by name.

A new encoder is a subclass of `Encoder` and a line in `ENCODERS`; an observation form names the one it wants.
"""

import math
from abc import abstractmethod
from itertools import pairwise

import torch
from torch import Tensor, nn

from garrison.errors import choose
from garrison.learn.config import PolicyConfig
from garrison.learn.nn.initial import bare, draw_weights
from garrison.learn.spaces.observations import ObservationForm


class Encoder(nn.Module):
    """Maps inputs (..., *form.input_shape) to features (..., outputs)."""

    outputs: int
    """How many features it has."""

    def __init__(self, form: ObservationForm, config: PolicyConfig) -> None:
        super().__init__()
        self.form, self.config = form, config

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """Return the features."""

    def draw_weights(self, generator: torch.Generator) -> None:
        """Draw the initial weights; by default with the gain of PPO's original code."""
        draw_weights(self, math.sqrt(2), generator)


class MLP(Encoder):
    """Dense hidden layers; the only encoder that the compiled network covers."""

    def __init__(self, form: ObservationForm, config: PolicyConfig) -> None:
        super().__init__(form, config)
        widths = (form.size, *config.hidden)
        self.layers = nn.ModuleList(bare(nn.Linear, a, b) for a, b in pairwise(widths))
        self.activation = torch.tanh if config.activation == "tanh" else torch.relu
        self.outputs = widths[-1]

    def forward(self, x: Tensor) -> Tensor:
        """Return the last layer's activations."""
        for layer in self.layers:
            x = self.activation(layer(x))
        return x


ENCODERS: dict[str, type[Encoder]] = {"mlp": MLP}


def make_encoder(form: ObservationForm, config: PolicyConfig) -> Encoder:
    """Return the encoder that an observation form names."""
    choose("encoder", form.encoder, tuple(ENCODERS))
    return ENCODERS[form.encoder](form, config)
