"""How a network's outputs become actions: what every distribution over an action space can do.

A new distribution is a subclass of `ActionDistribution` and a line in `registry.py`.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from garrison.errors import UserError
from garrison.learn.config import PolicyConfig
from garrison.learn.nn.sampling import Streams

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

    def __init__(self, space: spaces.Space[Any], config: PolicyConfig) -> None:
        self.space = space

    @classmethod
    @abstractmethod
    def accepts(cls, space: spaces.Space[Any], config: PolicyConfig) -> bool:
        """Return whether this distribution is for `space`, if the policy has these settings."""

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

    def initial_free_outputs(self) -> Floats:
        """Return what the free outputs are before anything is learned."""
        return np.zeros(self.free_outputs, np.float32)

    def flat_masks(self, masks: Any, num_envs: int) -> Flags:
        """Return masks as (num_envs, mask_size), from whatever form environments may give them in."""
        flat = np.array(masks, np.bool_).reshape(num_envs, -1)
        if flat.shape[1] != self.mask_size:
            raise UserError(
                f"the environments give {flat.shape[1]} flags as an action mask; actions of {self.space} need "
                f"{self.mask_size}."
            )
        return flat

    def assess(self, outputs: Floats, masks: Flags, choices: Array, log_probs: Floats) -> None:
        """Write the log-probabilities of the choices, without gradients; may overwrite `outputs`."""
        import torch

        allowed = torch.from_numpy(masks) if len(masks) else None
        with torch.inference_mode():
            found, _ = self.evaluate(torch.from_numpy(outputs), torch.from_numpy(choices), allowed)
        log_probs[:] = found.numpy()
