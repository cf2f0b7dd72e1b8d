"""The arguments that suites share."""

from dataclasses import dataclass
from pathlib import Path

from garrison.bench.method.rounds import BUDGET, Rounds


@dataclass(frozen=True)
class CommonArguments:
    """The arguments that all suites share."""

    quick: bool = False
    """Fewer rows and short repeats: a look in about a minute, not for publication."""
    out: Path | None = None
    """Folder for the results (JSON) and the page made from them (index.html)."""


@dataclass(frozen=True)
class MeasuringArguments(CommonArguments):
    """The arguments of suites that measure in rounds, a fresh process for every row of each."""

    repeats: int | None = None
    """This many rounds, steady or not; without it, until the ratio of every row to its partner is steady."""
    budget: str = BUDGET
    """No round begins after this time, for each of the suite's results: 90s, 20m, 1.5h."""

    def rounds(self, quick: int) -> Rounds:
        """Return how many rounds there are; a quick look has this many."""
        return Rounds(quick if self.quick else self.repeats, self.budget)
