"""How hard an agent searches: counts only, so that results never depend on the machine's speed."""

from dataclasses import dataclass

from garrison.contract.resets import whole
from garrison.errors import UserError, choose
from garrison.limit.outcomes import LONGEST


@dataclass(frozen=True)
class Round:
    """One round of a search."""

    continuations: int
    """Games that are played with each candidate that is still in"""
    keep: int
    """Candidates that stay in, at most, besides the network's own choice"""


@dataclass(frozen=True)
class SearchSettings:
    """What is tried before each decision."""

    likeliest: int = 4
    """The network's so many likeliest actions are candidates"""
    suspicion: float = 0.02
    """A Restore and a Remove are candidates on each host that Red holds with at least this probability"""
    rounds: tuple[Round, ...] = (Round(8, 4), Round(24, 2), Round(64, 1))
    """The candidates are played one round after the other; those that look worse than the network's choice drop out"""
    margin: float = 2.0
    """A candidate replaces the network's choice if it is better by more than this many standard errors"""
    horizon: int = 20
    """Steps of a game, at most: what is left then is taken from the values of who sees everything"""
    lengths: tuple[int, ...] = (30, 50, 100)
    """How long the episode may be: the challenge's lengths, one as likely as the other, as the agent is not told.
    Later than the longest it reckons with `horizon` steps more, and nothing after them"""

    def __post_init__(self) -> None:
        whole("likeliest", self.likeliest, 1)
        whole("horizon", self.horizon, 1)
        if not 0 <= self.suspicion <= 1:
            raise UserError(f"suspicion is a probability; got {self.suspicion}.")
        if not self.rounds or not self.lengths:
            raise UserError("a search needs at least one round and one length.")
        for one in self.rounds:
            whole("continuations", one.continuations, 2)
            whole("keep", one.keep, 1)
        for length in self.lengths:
            whole("lengths", length, 1, LONGEST)


BUDGETS = {
    "1ms": SearchSettings(likeliest=2, rounds=(Round(4, 1), Round(12, 1)), margin=2.5, horizon=10),
    "10ms": SearchSettings(),
    "50ms": SearchSettings(likeliest=8, rounds=(Round(16, 6), Round(64, 3), Round(192, 1)), horizon=40),
}
"""By what they take for a decision on a core of a laptop, about; the counts are what is kept to"""
DEFAULT_BUDGET = "10ms"


def settings_of(budget: str) -> SearchSettings:
    """Return what a budget buys."""
    return BUDGETS[choose("budget", budget, tuple(BUDGETS))]
