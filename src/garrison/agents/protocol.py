"""What every agent can do."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.int8]
Flags = NDArray[np.bool_]
Choices = NDArray[np.int64]


class Agent(Protocol):
    """Chooses Blue's actions in a batch of environments, with a memory of its own for each."""

    @property
    def name(self) -> str:
        """What results call it."""

    @property
    def encoder(self) -> str:
        """Which 52 observations it reads, see `garrison.cage2.VectorEnv`."""

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Get ready for `num_envs` environments in which episodes begin; `seed` decides what the agent draws."""

    def reset(self, mask: Flags) -> None:
        """Forget the environments where `mask` is set: new episodes begin there."""

    def act(self, observations: Bits) -> Choices:
        """Return one action a row of `observations`, (n, 52)."""
