"""Continuous actions: a normal distribution for each number, clipped to the space when it is handed over.

The deviations are parameters of the policy and do not depend on the observation, as in PPO's original code, SB3 and
CleanRL. What is stored, and judged, is what was drawn, before it is clipped; nothing is rescaled.
"""

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from garrison.learn.config import PolicyConfig
from garrison.learn.nn.sampling import HALF_LOG_TAU, Streams, assess_normal, draw_normal
from garrison.learn.spaces.actions import ActionDistribution, Array, Flags, Floats

if TYPE_CHECKING:
    from torch import Tensor


class Gaussian(ActionDistribution):
    """A Box of floats: outputs are the means, then the logarithms of the deviations. A choice is the numbers drawn."""

    kind = "gaussian"
    """Its name in the setting `continuous_actions`."""

    def __init__(self, space: spaces.Space[Any], config: PolicyConfig) -> None:
        super().__init__(space, config)
        assert isinstance(space, spaces.Box)
        size = prod(space.shape)
        self.outputs, self.free_outputs = 2 * size, size
        self.shape, self.dtype = (size,), np.dtype(np.float32)
        self._initial_log_std = config.log_std_init
        # A space without bounds still has no number beyond the largest of its type.
        limits = np.finfo(space.dtype)
        wide = np.result_type(space.dtype, np.float32)
        self._low = np.maximum(space.low, limits.min).astype(wide).reshape(-1)
        self._high = np.minimum(space.high, limits.max).astype(wide).reshape(-1)

    @classmethod
    def accepts(cls, space: spaces.Space[Any], config: PolicyConfig) -> bool:
        """Return whether the space is a Box of floats, and this kind is asked for."""
        is_floats = isinstance(space, spaces.Box) and space.dtype.kind == "f" and prod(space.shape) > 0
        return is_floats and config.continuous_actions == cls.kind

    def initial_free_outputs(self) -> Floats:
        """Return the logarithms of the deviations that a policy starts with."""
        return np.full(self.free_outputs, self._initial_log_std, np.float32)

    def draw(self, outputs: Floats, masks: Flags, streams: Streams, choices: Array, log_probs: Floats) -> None:
        """Draw each number by itself."""
        draw_normal(outputs, streams, choices, log_probs)

    def mode(self, outputs: Floats, masks: Flags, choices: Array) -> None:
        """Take the means."""
        choices[:] = outputs[:, : choices.shape[1]]

    def assess(self, outputs: Floats, masks: Flags, choices: Array, log_probs: Floats) -> None:
        """Write the log-probabilities of the choices, computed as when they were drawn."""
        assess_normal(outputs, choices, log_probs)

    def evaluate(self, outputs: "Tensor", choices: "Tensor", masks: "Tensor | None") -> "tuple[Tensor, Tensor]":
        """Return log-probabilities and entropies, summed over the numbers."""
        means, log_stds = outputs.chunk(2, dim=1)
        scaled = (choices - means) * (-log_stds).exp()
        constant = float(HALF_LOG_TAU)
        log_probs = -(0.5 * scaled**2 + log_stds + constant).sum(1)
        return log_probs, (log_stds + (0.5 + constant)).sum(1)

    def to_env(self, choices: Array) -> Array:
        """Return actions of the space: what lies outside becomes the nearest bound."""
        return self._shaped(np.clip(choices.astype(self._low.dtype, copy=False), self._low, self._high))

    def _shaped(self, flat: Array) -> Array:
        shape = self.space.shape
        assert shape is not None
        return flat.astype(self.space.dtype, copy=False).reshape(len(flat), *shape)
