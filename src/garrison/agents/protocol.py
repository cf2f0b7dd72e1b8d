"""What every agent can do.

The caller calls `begin` once for a batch, then `act` for every step, and `reset` between two steps where episodes have
ended. An agent sees what an entry to the challenge may see, and keeps what it wants to remember by itself.
"""

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

    @property
    def rules(self) -> str | None:
        """The rules that it was trained under, see `garrison.cage2.VectorEnv`; None if it plays by any."""

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Get ready for `num_envs` environments in which episodes begin; `seed` decides what the agent draws."""

    def reset(self, mask: Flags) -> None:
        """Forget the environments where `mask` is set: new episodes begin there."""

    def act(self, observations: Bits) -> Choices:
        """Return one action per row of `observations`, (n, 52)."""
