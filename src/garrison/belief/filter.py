"""A belief about one episode: every true state that is possible, with its probability, from what Blue did and saw.

Each step, the outcomes of every possible state are enumerated (`garrison.belief.branching`); those that show Blue what
it was shown are possible now, and equal ones are merged. This is Bayes' rule, without samples and without luck. Nothing
else enters: not the true state, not who attacks, not when the episode ends.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from garrison.belief.branching import Branching, Weights
from garrison.belief.merging import merge
from garrison.belief.state_stepper import States, Stepper
from garrison.cage2.layout import MAX_LENGTH
from garrison.cage2.names import DEFAULT_ENCODER, DEFAULT_RULES, NUM_ACTIONS, NUM_HOSTS, REDS, SCRIPTED_REDS, Access
from garrison.cage2.observe import NUM_BITS
from garrison.cage2.vector_env import VectorEnv
from garrison.contract.resets import whole
from garrison.errors import UserError

NUM_ACCESS = len(Access)


def _prior() -> dict[str, float]:
    return {"bline": 0.45, "meander": 0.45, "sleep": 0.1}


@dataclass(frozen=True)
class BeliefSettings:
    """What a belief assumes, and how much of it is kept."""

    most_states: int = 256
    """The likeliest so many states are kept"""
    least_weight: float = 1e-6
    """States less likely than this are dropped"""
    prior: Mapping[str, float] = field(default_factory=_prior)
    """How likely each attacker is before anything was seen"""

    def __post_init__(self) -> None:
        whole("most_states", self.most_states, 1, 2**20)
        if not 0 <= self.least_weight < 1:
            raise UserError(f"least_weight must be at least 0 and below 1; got {self.least_weight}.")
        odds = list(self.prior.values())
        if set(self.prior) - set(SCRIPTED_REDS) or not odds or min(odds) < 0 or abs(sum(odds) - 1) > 1e-9:
            names = ", ".join(SCRIPTED_REDS)
            raise UserError(f"prior must give probabilities of {names} that sum to 1; got {dict(self.prior)}.")


class Belief:
    """What Blue can know about an episode under way.

    Args:
        rules: the rules that are played.
        encoder: which 52 observations Blue is shown.
        settings: see `BeliefSettings`.
    """

    states: States
    """What is possible, each state once: records of `garrison.cage2.layout.STATE` without their past (`merging.py`)"""
    weights: Weights
    """Their probabilities, which sum to 1; the largest first"""
    misses: int
    """Steps in this episode after which no state fitted what was shown, so that the nearest ones were kept"""

    def __init__(
        self, rules: str = DEFAULT_RULES, encoder: str = DEFAULT_ENCODER, settings: BeliefSettings | None = None
    ) -> None:
        self.settings = settings or BeliefSettings()
        self._branching = Branching(Stepper(rules, encoder))
        reds = [name for name, odds in self.settings.prior.items() if odds > 0]
        envs = VectorEnv(len(reds), red=reds, rules=rules, encoder=encoder, length=MAX_LENGTH)
        envs.reset(seed=0)
        self._first = self._likeliest(envs.get_state(), np.array([self.settings.prior[name] for name in reds]))
        envs.close()
        self.begin()

    def begin(self) -> None:
        """Forget everything: a new episode begins."""
        self.states, self.weights = self._first
        self.misses = 0

    def update(self, action: int, observation: NDArray[Any]) -> None:
        """Take in what Blue did, one of the 145 actions, and the 52 bits that it was shown then."""
        whole("action", action, 0, NUM_ACTIONS - 1)
        if np.shape(observation) != (NUM_BITS,):
            raise UserError(f"an observation has {NUM_BITS} bits; got an array of {np.shape(observation)}.")
        states, weights, bits = self._branching.outcomes(self.states, self.weights, action)
        differing = (bits != observation).sum(axis=1)
        nearest = differing.min()
        self.misses += int(nearest > 0)
        fits = differing == nearest
        self.states, self.weights = self._likeliest(states[fits], weights[fits])

    def _likeliest(self, states: States, weights: Weights) -> tuple[States, Weights]:
        """Return each of the states once, the likeliest first, with weights that sum to 1."""
        states, weights = merge(states, weights)
        weights /= weights.sum()
        order = np.argsort(-weights, kind="stable")[: self.settings.most_states]
        kept = order[weights[order] >= min(self.settings.least_weight, weights[order[0]])]
        return states[kept], weights[kept] / weights[kept].sum()

    def sample(self, count: int, random: np.random.Generator) -> States:
        """Return so many states, drawn by their weights as evenly as possible."""
        places = (np.arange(count) + random.random()) / count
        chosen = np.searchsorted(np.cumsum(self.weights), places, side="right")
        return self.states[np.minimum(chosen, len(self.weights) - 1)]

    def reds(self) -> dict[str, float]:
        """Return the probability of each attacker."""
        codes = self.states["red"]
        return {name: float(self.weights[codes == REDS.index(name)].sum()) for name in SCRIPTED_REDS}

    def access(self) -> NDArray[np.float64]:
        """Return (hosts, 3): the probability that Red has no session there, one as a user, a privileged one."""
        found = np.zeros((NUM_HOSTS, NUM_ACCESS))
        for level in range(NUM_ACCESS):
            found[:, level] = self.weights @ (self.states["access"] == level)
        return found

    def clone(self) -> Self:
        """Return a belief that knows the same and goes on by itself."""
        return copy.copy(self)
