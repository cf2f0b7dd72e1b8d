"""A network that reads a belief, and another that takes over where the belief is wrong.

A belief knows the challenge's attackers only. Another one soon does what none of them could have done: then no state
fits what was shown, the belief has missed (`garrison.belief.Beliefs.misses`), and what it says from there on means
nothing. Who goes on to trust it loses ten times as much as who never had one. In the episodes of the challenge itself
beliefs hardly ever miss.
"""

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from garrison.agents.network_agent import NetworkAgent
from garrison.agents.protocol import Choices, Explanation, Flags
from garrison.errors import UserError


class GuardedAgent:
    """Acts as a network that reads a belief does, until the belief misses; then as its guard, until the episode ends.

    Args:
        policy: the network that reads a belief.
        guard: a network for the same rules that reads none.
    """

    def __init__(self, policy: NetworkAgent, guard: NetworkAgent) -> None:
        if not policy.reads_belief or guard.reads_belief:
            raise UserError(f"{policy.name} must read a belief, and {guard.name}, its guard, must not.")
        guard.require_same_game(policy)
        self.name, self.rules, self.encoder = policy.name, policy.rules, policy.encoder
        self._policy, self.guard = policy, guard

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Start new episodes in this many environments."""
        self._policy.begin(num_envs, seed)
        self.guard.begin(num_envs, seed)

    def reset(self, mask: Flags) -> None:
        """Forget the environments where new episodes begin."""
        self._policy.reset(mask)
        self.guard.reset(mask)

    def act(self, observations: NDArray[Any]) -> Choices:
        """Return one action per row."""
        own, guards = self._policy.act(observations), self.guard.act(observations)
        actions = np.where(self._is_lost, guards, own)
        self.took(actions)
        return actions

    @property
    def _is_lost(self) -> Flags:
        return self._policy.misses > 0

    def took(self, actions: Choices) -> None:
        """Remember what Blue did."""
        self._policy.took(actions)
        self.guard.took(actions)

    def explain(self) -> Explanation:
        """Return the probabilities of whose action was taken; none of them has values that mean something for both."""
        own, guards, is_lost = self._policy.explain(), self.guard.explain(), self._is_lost[:, None]
        return Explanation(
            np.where(is_lost, guards.probabilities, own.probabilities),
            np.where(is_lost, guards.masked, own.masked),
            None,
        )

    def clone(self, rows: NDArray[np.intp], seed: int) -> Self:
        """Return the same defender for copies of these environments."""
        twin = copy.copy(self)
        twin._policy, twin.guard = self._policy.clone(rows, seed), self.guard.clone(rows, seed)
        return twin
