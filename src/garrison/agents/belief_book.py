"""What a defender keeps about the episodes that it plays: what may be true, how far they are, what it did last."""

import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray

from garrison.agents.protocol import Bits, Choices, Flags
from garrison.belief.belief_settings import BeliefSettings
from garrison.belief.filter import Beliefs


class BeliefBook:
    """Beliefs, clocks and last actions of a batch.

    Args:
        rules: the rules that are played.
        encoder: which 52 observations Blue is shown.
        settings: what the beliefs assume.
    """

    beliefs: Beliefs
    """What is believed about each environment, since its last observation"""
    clocks: NDArray[np.int64]
    """Steps that each episode has taken"""
    last: NDArray[np.int64]
    """What Blue did last in each"""

    def __init__(self, rules: str, encoder: str, settings: BeliefSettings | None = None) -> None:
        self._nothing_seen = Beliefs(1, rules, encoder, settings)

    def begin(self, num_envs: int) -> None:
        """Start new episodes in this many environments."""
        self.beliefs = self._nothing_seen.clone(np.zeros(num_envs, np.intp))
        self.clocks, self.last = np.zeros(num_envs, np.int64), np.zeros(num_envs, np.int64)
        self._starts = np.ones(num_envs, np.bool_)

    def reset(self, mask: Flags) -> None:
        """Note where new episodes begin: what is seen next is their first observation."""
        self._starts |= mask

    def see(self, bits: Bits) -> Flags:
        """Bring the beliefs up to what was shown; return where that was the first observation of an episode."""
        starts = self._starts
        self.beliefs.begin(starts)
        self.beliefs.update(self.last, bits, ~starts)
        self.clocks = np.where(starts, 0, self.clocks + 1)
        self._starts = np.zeros_like(starts)
        return starts

    def took(self, actions: Choices) -> None:
        """Remember what Blue did."""
        self.last = np.array(actions, np.int64)

    def clone(self, rows: NDArray[np.intp]) -> Self:
        """Return the same about copies of these environments."""
        twin = copy.copy(self)
        twin.beliefs = self.beliefs.clone(rows)
        twin.clocks, twin.last, twin._starts = self.clocks[rows], self.last[rows], self._starts[rows]
        return twin
