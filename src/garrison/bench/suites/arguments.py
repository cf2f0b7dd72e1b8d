"""The arguments that suites share."""

from dataclasses import dataclass
from pathlib import Path

from garrison.bench.method.rounds import BUDGET, Rounds
from garrison.bench.publish import stored
from garrison.errors import UserError


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

    go_on: bool = False
    """Add rounds to the results that the same command has left in --out, on the same machine and with the same code."""

    def rounds(self, name: str, quick: int) -> Rounds:
        """Return how many rounds the result of this name has; a quick look has so many."""
        return Rounds(quick if self.quick else self.repeats, self.budget, self._earlier(name))

    def _earlier(self, name: str) -> stored.StoredResult | None:
        if not self.go_on:
            return None
        if self.out is None:
            raise UserError("--go-on needs --out, the folder with the results to go on with.")
        if name in stored.names(self.out):
            return stored.load(self.out, name)
        print(f"{self.out / name}.json is not there yet, so it is begun.")
        return None
