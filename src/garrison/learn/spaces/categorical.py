"""Actions that are whole numbers, each of few: a softmax over the logits of each."""

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from garrison.jit import plain
from garrison.learn.config import PolicyConfig
from garrison.learn.nn.arithmetic import MASKED
from garrison.learn.nn.groups import singles
from garrison.learn.nn.sampling import Streams, assess, draw, pick_best
from garrison.learn.spaces.actions import ActionDistribution, Array, Flags, Floats

if TYPE_CHECKING:
    from torch import Tensor

MOST_VALUES = 256
"""Of one entry of a Box of whole numbers; with more of them a logit for each makes no sense."""


class Categorical(ActionDistribution):
    """A head of logits per number to choose. A choice is an index per head, starting at 0.

    Discrete has one head, MultiDiscrete one per entry, MultiBinary one of two logits per switch, and a Box of few whole
    numbers one per entry.
    """

    sizes: tuple[int, ...]
    """Logits of each head."""
    offsets: NDArray[np.int64]
    """(heads + 1,): where each head begins among the outputs."""

    def __init__(self, space: spaces.Space[Any], config: PolicyConfig) -> None:
        super().__init__(space, config)
        lowest, counts = _values(space)
        self.sizes, self._start = tuple(counts.reshape(-1).tolist()), lowest.reshape(-1)
        self.offsets = np.concatenate(([0], np.cumsum(self.sizes))).astype(np.int64)
        self.outputs = self.mask_size = int(self.offsets[-1])
        self.shape, self.dtype = (len(self.sizes),), np.dtype(np.int32)
        self._no_bias = np.zeros(self.outputs, np.float32)

    @classmethod
    def accepts(cls, space: spaces.Space[Any], config: PolicyConfig) -> bool:
        """Return whether actions of the space are whole numbers, each of few."""
        if isinstance(space, spaces.Box):
            if space.dtype.kind not in "iub" or not prod(space.shape):
                return False
            return bool((_values(space)[1] <= MOST_VALUES).all())
        return isinstance(space, spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary)

    def draw(self, outputs: Floats, masks: Flags, streams: Streams, choices: Array, log_probs: Floats) -> None:
        """Draw an index per head."""
        groups = plain(singles)(np.arange(len(outputs)))
        draw(outputs, groups, self._no_bias, masks, self.offsets, streams, choices, log_probs)

    def mode(self, outputs: Floats, masks: Flags, choices: Array) -> None:
        """Pick the largest logit of each head."""
        pick_best(outputs, self._no_bias, masks, self.offsets, choices)

    def assess(self, outputs: Floats, masks: Flags, choices: Array, log_probs: Floats) -> None:
        """Write the log-probabilities of the choices, computed as the compiled network computes them."""
        assess(outputs, self._no_bias, masks, self.offsets, choices, log_probs)

    def evaluate(self, outputs: "Tensor", choices: "Tensor", masks: "Tensor | None") -> "tuple[Tensor, Tensor]":
        """Return log-probabilities and entropies, summed over heads."""
        import torch

        if masks is not None:
            outputs = torch.where(masks, outputs, torch.tensor(float(MASKED), device=outputs.device))
        log_probs, entropies = outputs.new_zeros(len(outputs)), outputs.new_zeros(len(outputs))
        for logits, index in zip(torch.split(outputs, list(self.sizes), dim=1), choices.long().T, strict=True):
            all_log_probs = torch.log_softmax(logits, dim=1)
            log_probs = log_probs + all_log_probs.gather(1, index.unsqueeze(1)).squeeze(1)
            entropies = entropies - (all_log_probs.exp() * all_log_probs).sum(1)
        return log_probs, entropies

    def to_env(self, choices: Array) -> Array:
        """Return actions of the space."""
        shape = self.space.shape
        assert shape is not None
        actions: Array = choices.astype(np.int64) + self._start
        return actions.astype(self.space.dtype, copy=False).reshape(len(choices), *shape)


def _values(space: spaces.Space[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lowest value of each entry and how many values it has."""
    if isinstance(space, spaces.Discrete):
        return np.array([space.start], np.int64), np.array([space.n], np.int64)
    if isinstance(space, spaces.MultiDiscrete):
        return np.asarray(space.start, np.int64), np.asarray(space.nvec, np.int64)
    if isinstance(space, spaces.MultiBinary):
        return np.zeros(space.shape, np.int64), np.full(space.shape, 2, np.int64)
    assert isinstance(space, spaces.Box)
    # As Python's numbers: bounds of 64 bits may be further apart than 64 bits can say.
    spans = [int(high) - int(low) + 1 for low, high in zip(space.low.flat, space.high.flat, strict=True)]
    counts = np.minimum(np.array(spans, object), 2**31).astype(np.int64)
    return space.low.astype(np.int64), counts.reshape(space.shape)
