"""What every agent can do.

The caller calls `begin` once for a batch, then `act` for every step, and `reset` between two steps where episodes have
ended. An agent sees what an entry to the challenge may see, and keeps what it wants to remember by itself.
"""

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.policies import Policy

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


class TabledAgent(Agent, Protocol):
    """An agent whose choices fit into a table: whole episodes of it are played inside of the kernel."""

    @property
    def rollout_policy(self) -> Policy:
        """What `act` would choose from the first step of an episode on, for `garrison.cage2.VectorEnv.rollout`."""


@dataclass(frozen=True)
class Explanation:
    """What led to the last actions of an agent that chooses by probabilities."""

    probabilities: NDArray[np.float32]
    """(n, 145) of each action; 0 where it is masked, or none that the agent knows"""
    masked: Flags
    """(n, 145) actions that the agent left out because they would be refused"""
    values: NDArray[np.float64] | None
    """(n,) the return that the agent expects from here on, by its own discount; None if it has no estimate"""


class WatchableAgent(Agent, Protocol):
    """What an agent may offer beyond `Agent`, to be watched and questioned. **Each method is optional.**"""

    def explain(self) -> Explanation | None:
        """Return what led to the actions of the last `act`; None, or no such method: it is shown without."""

    def said(self) -> list[str]:
        """Return what it says about the actions of the last `act`, for each environment: for agents that have words."""

    def took(self, actions: Choices) -> None:
        """Learn that Blue did this instead of what the last `act` returned; only for agents that remember it."""

    def clone(self, rows: NDArray[np.intp], seed: int) -> Self:
        """Return an agent for `len(rows)` environments, each with the memory of the environment in its row.

        Both go on by themselves; `seed` decides what the new one draws. An agent without this is shown an episode
        again from its beginning, as often as its memory is needed: slower, and the same.
        """

    def memory(self) -> NDArray[np.uint8] | None:
        """Return (n, bytes) after `act`: where rows are equal, it will do the same on equal observations.

        None, or no such method: nothing is known, or the agent draws. Where games have become equal, one is played.
        """
