"""A defender that knows the game's values: it takes the action that is best on average over what may be true.

What may be true, and how likely, is the exact belief of `garrison.belief`, made of what Blue did and was shown and of
nothing else. What an action is worth in each possible state are the values behind the upper bound (`garrison.limit`):
those of a defender that sees everything from the next step on. Such a rule (QMDP; Littman, Cassandra and Kaelbling
1995) never acts only to learn, and loses little where beliefs are nearly certain, as they are here. The values take
some decoys for free (`garrison.limit.positions`), so they leave many steps open: among actions that are about as good
as the best a network chooses.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.agents.belief_book import BeliefBook
from garrison.agents.border import observed_bits
from garrison.agents.network_agent import NetworkAgent
from garrison.agents.protocol import Choices, Flags
from garrison.belief.filter import Beliefs
from garrison.belief.merging import States
from garrison.belief.updating import Weights
from garrison.cage2.names import ACTIONS, DEFAULT_RULES, NUM_ACTIONS, REDS, BlueKind, Red
from garrison.limit.weighing import action_values

LENGTHS = (30, 50, 100)
"""How long episodes may be, each as likely as the others; the agent is not told"""
MET = {Red.BLINE: REDS[Red.BLINE], Red.MEANDER: REDS[Red.MEANDER]}
_RESTORES = np.array([action.kind == BlueKind.RESTORE for action in ACTIONS])


class ValueAgent:
    """Acts by the values of the game, over what may be true.

    The values are made when the first episodes begin: one to three minutes for each set of rules, once in a process.

    Args:
        policy: the network that chooses among what is about as good; its rules are played.
        margin: how much less than the best action another one may be worth to be about as good.
        name: what results call it.
    """

    def __init__(self, policy: NetworkAgent, margin: float = 0.03, name: str = "") -> None:
        self.rules, self.encoder = policy.rules or DEFAULT_RULES, policy.encoder
        self.name = name or f"{policy.name} with values"
        self._policy, self._margin = policy, margin
        self._book = BeliefBook(self.rules, self.encoder)

    def begin(self, num_envs: int, seed: int = 0) -> None:
        """Start new episodes in this many environments."""
        self._policy.begin(num_envs, seed)
        self._book.begin(num_envs)
        self._values = {code: action_values(self.rules, red) for code, red in MET.items()}

    @property
    def beliefs(self) -> Beliefs:
        """What is believed about each environment, since its last observation."""
        return self._book.beliefs

    def reset(self, mask: Flags) -> None:
        """Forget the environments where new episodes begin."""
        self._book.reset(mask)
        self._policy.reset(mask)

    def act(self, observations: NDArray[Any]) -> Choices:
        """Return one action per row."""
        bits = observed_bits(observations, len(self._book.clocks))
        self._book.see(bits)
        actions = self._policy.act(bits).copy()  # what is left where the belief has missed, and so means nothing
        likely = self._policy.explain().probabilities
        for row in np.flatnonzero(self.beliefs.misses == 0).tolist():
            clock = int(self._book.clocks[row])
            worth = self._worth(self.beliefs.states(row), self.beliefs.weights(row), clock)
            actions[row] = np.where(worth >= worth.max() - self._margin, likely[row], -1.0).argmax()
        self._policy.took(actions)
        self._book.took(actions)
        return actions

    def _worth(self, states: States, weights: Weights, clock: int) -> NDArray[np.float64]:
        """Return what each action is worth, averaged over what may be true and over how long the episode may be."""
        lefts = np.array([length - clock for length in LENGTHS if length > clock] or [LENGTHS[-1]])
        worth = np.zeros(NUM_ACTIONS)
        for code in np.unique(states["red"]).tolist():
            rows = np.flatnonzero(states["red"] == code)
            if code in self._values:
                worth += weights[rows] @ self._values[code].weigh(states[rows], lefts)
            else:  # against an attacker that sleeps a Restore costs its point, and nothing else matters
                worth -= weights[rows].sum() * _RESTORES
        return worth
