"""Continuous actions that never leave their bounds: a normal distribution through tanh, stretched to the space.

A choice is stored before tanh, so that its log-probability loses no digits near the bounds:

    action = middle + half_width * tanh(u),   u normal
    log p(action) = log p(u) - log half_width - log(1 - tanh(u)**2)

The entropy has no closed form. It is that of u plus the mean of the last two terms' opposite, an integral over a normal
distribution that Gauss-Hermite quadrature computes: no draw, and a gradient with respect to means and deviations.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from garrison.errors import UserError
from garrison.learn.config import PolicyConfig
from garrison.learn.nn.sampling import Streams
from garrison.learn.spaces.actions import Array, Flags, Floats
from garrison.learn.spaces.gaussian import Gaussian

if TYPE_CHECKING:
    from torch import Tensor

LOG_2 = math.log(2.0)
POINTS = 32
"""Of the quadrature: the entropy is within 0.003 of the exact one for deviations up to 3."""


class Squashed(Gaussian):
    """A Box of floats with finite bounds; see the module."""

    kind = "squashed"

    def __init__(self, space: spaces.Space[Any], config: PolicyConfig) -> None:
        super().__init__(space, config)
        assert isinstance(space, spaces.Box)
        half_width = 0.5 * (space.high.astype(np.float64) - space.low.astype(np.float64)).reshape(-1)
        if not np.isfinite(half_width).all() or not (half_width > 0).all():
            raise UserError(
                f"continuous_actions 'squashed' needs bounds that are finite and apart, which {space} does not have.",
                hint="Use gaussian, which needs none.",
            )
        self._half_width, self._middle = half_width, space.low.astype(np.float64).reshape(-1) + half_width
        self._log_volume = float(np.log(half_width).sum())
        points, weights = np.polynomial.hermite_e.hermegauss(POINTS)  # for the weight exp(-x**2 / 2)
        self._points = points.astype(np.float32)
        self._weights = (weights / math.sqrt(2.0 * math.pi)).astype(np.float32)

    def draw(self, outputs: Floats, masks: Flags, streams: Streams, choices: Array, log_probs: Floats) -> None:
        """Draw each number by itself."""
        super().draw(outputs, masks, streams, choices, log_probs)
        log_probs -= self._log_stretch(choices)

    def assess(self, outputs: Floats, masks: Flags, choices: Array, log_probs: Floats) -> None:
        """Write the log-probabilities of the choices, computed as when they were drawn."""
        super().assess(outputs, masks, choices, log_probs)
        log_probs -= self._log_stretch(choices)

    def evaluate(self, outputs: "Tensor", choices: "Tensor", masks: "Tensor | None") -> "tuple[Tensor, Tensor]":
        """Return log-probabilities and entropies, summed over the numbers."""
        import torch

        def log_slope(u: "Tensor") -> "Tensor":
            return 2.0 * (LOG_2 - u - torch.nn.functional.softplus(-2.0 * u))

        log_probs, entropies = super().evaluate(outputs, choices, masks)
        means, log_stds = outputs.chunk(2, dim=1)
        points, weights = (torch.from_numpy(x).to(outputs.device) for x in (self._points, self._weights))
        everywhere = means.unsqueeze(2) + log_stds.exp().unsqueeze(2) * points  # (N, numbers, points)
        slopes = (log_slope(everywhere) * weights).sum((1, 2))
        stretch = log_slope(choices).sum(1) + self._log_volume
        return log_probs - stretch, entropies + slopes + self._log_volume

    def to_env(self, choices: Array) -> Array:
        """Return actions of the space."""
        inside = self._middle + self._half_width * np.tanh(choices.astype(np.float64))
        return self._shaped(np.clip(inside, self._low, self._high))

    def _log_stretch(self, u: Array) -> Floats:
        """Return the logarithm of how much `to_env` stretches the space around each choice: (N,)."""
        stretch: Floats = (2.0 * (LOG_2 - u - np.logaddexp(0.0, -2.0 * u))).sum(axis=1) + self._log_volume
        return stretch
