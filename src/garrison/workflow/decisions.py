"""Which order to try next: the upper confidence bound of a Gaussian process, or chance, or one after the other.

A decision depends on the settings, the seed and the trials before it, on nothing else, so a search that was killed goes
on with the decisions that it would have made.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from garrison.workflow import surrogate
from garrison.workflow.orders import ORDERS, kendall_matrix
from garrison.workflow.scores import Score

GP, RANDOM, EXHAUSTIVE = "gp", "random", "exhaustive"
METHODS = (GP, RANDOM, EXHAUSTIVE)
TOP = 3  # candidates that a decision is logged with


@dataclass(frozen=True)
class Candidate:
    """An order and what the Gaussian process says of it."""

    order: int
    mean: float
    """Expected reward: what choosing it exploits."""
    deviation: float
    """Standard deviation of that expectation."""
    ucb: float
    """Upper confidence bound: mean + beta * deviation; the second term is what choosing it explores."""


@dataclass(frozen=True)
class Decision:
    """One choice, and all that it was made of."""

    iteration: int
    order: int
    how: str
    """`gp`, or `random` (also the first picks of `gp`), or `exhaustive`."""
    chosen: Candidate | None
    """The chosen order's numbers; None without a Gaussian process."""
    top: tuple[Candidate, ...]
    """The best candidates by their bound."""
    nearest: int | None
    """The tried order with the least Kendall distance; None for the first."""
    distance: float | None
    """That distance."""
    length: float | None
    """Length of the fitted kernel."""
    noise: float | None
    """Standard deviation of the fitted noise."""


@dataclass(frozen=True)
class Trial:
    """A decision and what came of it."""

    decision: Decision
    score: Score
    """What the evaluation after training measured."""
    inherited: str
    """Where the first weights came from."""
    episodes: int
    """Episodes trained for, over all environments."""
    updates: int
    reason: str
    """Why training stopped."""
    observed: bool
    """Whether the reward counts: the order is complied with, or episodes are fixed."""
    seconds: float

    @property
    def order(self) -> int:
        """The order tried."""
        return self.decision.order

    @property
    def reward(self) -> float:
        """Mean environment reward of an episode."""
        return self.score.reward

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Trial":
        """Read what `to_dict` returned."""
        decision = dict(values["decision"])
        decision["chosen"] = Candidate(**decision["chosen"]) if decision["chosen"] else None
        decision["top"] = tuple(Candidate(**candidate) for candidate in decision["top"])
        return cls(**{**values, "decision": Decision(**decision), "score": Score(**values["score"])})


def decide(
    method: str, trials: Sequence[Trial], seed: int = 0, beta: float = 2.0, initial: int = 3, revisit: bool = False
) -> Decision | None:
    """Choose the next order; None if there is none left.

    Args:
        method: one of `METHODS`.
        trials: what was tried so far.
        seed: decides what is left to chance.
        beta: how many standard deviations the upper confidence bound adds to the mean.
        initial: rewards to observe at random orders before the Gaussian process decides.
        revisit: whether to choose among the tried orders too.
    """
    tried = [trial.order for trial in trials]
    left = [order for order in range(len(ORDERS)) if revisit or order not in tried]
    if not left:
        return None
    observed = [trial for trial in trials if trial.observed]
    top: tuple[Candidate, ...] = ()
    chosen, length, noise = None, None, None
    if method == GP and len(observed) >= max(initial, surrogate.LEAST):
        posterior = surrogate.fit([trial.order for trial in observed], [trial.reward for trial in observed])
        top = tuple(sorted((_candidate(order, posterior, beta) for order in left), key=_by_bound)[:TOP])
        chosen, length, noise = top[0], posterior.length, float(np.sqrt(posterior.noise))
        order, how = chosen.order, GP
    elif method == EXHAUSTIVE:
        order, how = left[0], EXHAUSTIVE
    else:
        order, how = int(np.random.default_rng((seed, len(trials))).choice(left)), RANDOM
    nearest, distance = nearest_of(order, tried)
    return Decision(len(trials), order, how, chosen, top, nearest, distance, length, noise)


def nearest_of(order: int, known: Sequence[int]) -> tuple[int | None, float | None]:
    """Return the known order at the least Kendall distance, of equals the one known last, and that distance."""
    if not known:
        return None, None
    distances = kendall_matrix()[order, list(known)]
    place = len(known) - 1 - int(distances[::-1].argmin())
    return int(known[place]), float(distances[place])


def best_of(trials: Sequence[Trial]) -> Trial | None:
    """Return the trial with the highest reward among those that count."""
    return max((trial for trial in trials if trial.observed), key=lambda trial: trial.reward, default=None)


def _candidate(order: int, posterior: surrogate.Posterior, beta: float) -> Candidate:
    mean, deviation = float(posterior.mean[order]), float(posterior.deviation[order])
    return Candidate(order, mean, deviation, mean + beta * deviation)


def _by_bound(candidate: Candidate) -> tuple[float, int]:
    return -candidate.ucb, candidate.order
