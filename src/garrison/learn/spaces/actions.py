"""How a network's outputs become actions: one distribution per kind of action space.

A new distribution is a subclass of `ActionDistribution` and a line in `registry.py`.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from garrison.learn.nn.arithmetic import MASKED
from garrison.learn.nn.sampling import Streams, assess, draw, pick_best

if TYPE_CHECKING:
    from torch import Tensor

Array = NDArray[Any]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float32]


class ActionDistribution(ABC):
    """A distribution over the actions of a space, given by a row of network outputs.

    A choice is an action in the form in which a rollout stores it. Masks are (N, mask_size), where False forbids;
    without masks their first axis is 0.
    """

    outputs: int
    """How many numbers describe one distribution."""
    free_outputs: int = 0
    """How many of them, the last ones, are parameters of the policy that do not depend on the observation."""
    mask_size: int = 0
    """How many flags say what one action may be; 0 if actions cannot be masked."""
    shape: tuple[int, ...]
    """Of one stored choice."""
    dtype: np.dtype[Any]
    """Of one stored choice."""

    def __init__(self, space: spaces.Space[Any]) -> None:
        self.space = space

    @classmethod
    @abstractmethod
    def accepts(cls, space: spaces.Space[Any]) -> bool:
        """Return whether this distribution is for `space`."""

    @abstractmethod
    def draw(self, outputs: Floats, masks: Flags, streams: Streams, choices: Array, log_probs: Floats) -> None:
        """Draw a choice per row; writes `choices` and `log_probs`, moves the streams on, may overwrite `outputs`."""

    @abstractmethod
    def mode(self, outputs: Floats, masks: Flags, choices: Array) -> None:
        """Write the likeliest choice per row into `choices`; may overwrite `outputs`."""

    @abstractmethod
    def evaluate(self, outputs: "Tensor", choices: "Tensor", masks: "Tensor | None") -> "tuple[Tensor, Tensor]":
        """Return the log-probabilities of the choices and the entropies, both (N,), for torch to differentiate."""

    @abstractmethod
    def to_env(self, choices: Array) -> Any:
        """Return a batch of choices as the actions that `envs.step` takes."""

    def assess(self, outputs: Floats, masks: Flags, choices: Array, log_probs: Floats) -> None:
        """Write the log-probabilities of the choices, without gradients; may overwrite `outputs`."""
        import torch

        allowed = torch.from_numpy(masks) if len(masks) else None
        with torch.inference_mode():
            found, _ = self.evaluate(torch.from_numpy(outputs), torch.from_numpy(choices), allowed)
        log_probs[:] = found.numpy()


class Categorical(ActionDistribution):
    """Discrete and MultiDiscrete: a head of logits per choice. A choice is an index per head, starting at 0."""

    sizes: tuple[int, ...]
    """Logits of each head."""
    offsets: NDArray[np.int64]
    """(heads + 1,): where each head begins among the outputs."""

    def __init__(self, space: spaces.Discrete | spaces.MultiDiscrete) -> None:
        super().__init__(space)
        if isinstance(space, spaces.Discrete):
            self.sizes, self._start = (int(space.n),), np.array([space.start])
        else:
            self.sizes = tuple(int(n) for n in space.nvec.reshape(-1))
            self._start = np.asarray(space.start).reshape(-1)
        self.offsets = np.concatenate(([0], np.cumsum(self.sizes))).astype(np.int64)
        self.outputs = self.mask_size = int(self.offsets[-1])
        self.shape, self.dtype = (len(self.sizes),), np.dtype(np.int32)
        self._no_bias = np.zeros(self.outputs, np.float32)

    @classmethod
    def accepts(cls, space: spaces.Space[Any]) -> bool:
        """Return whether the space is Discrete or MultiDiscrete."""
        return isinstance(space, spaces.Discrete | spaces.MultiDiscrete)

    def draw(self, outputs: Floats, masks: Flags, streams: Streams, choices: Array, log_probs: Floats) -> None:
        """Draw an index per head."""
        draw(outputs, self._no_bias, masks, self.offsets, streams, choices, log_probs)

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
        return actions.reshape(len(choices), *shape)
