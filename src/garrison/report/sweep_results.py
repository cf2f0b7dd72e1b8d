"""What came of a sweep: every setting that was tried, its runs, and the best of them."""

from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from garrison.report.history import REWARD, RunHistory
from garrison.tasks.confidence import Interval, mean95

FINISHED, PRUNED, FAILED = "finished", "pruned", "failed"


@dataclass(frozen=True)
class RunResult:
    """A run of a sweep."""

    name: str
    seed: int
    path: Path
    state: str
    """waiting, running, stopped, finished, diverged, failed or pruned"""
    score: tuple[float, float | None] | None
    """At its end, with its own 95 % reach; None until it is finished."""
    history: RunHistory | None = field(default=None, repr=False)
    message: str = ""
    """Why it failed or diverged."""

    @property
    def last_return(self) -> float | None:
        """The newest mean return of its training."""
        if self.history is None or not len(returns := self.history.series(REWARD)[2]):
            return None
        return float(returns[-1])


@dataclass(frozen=True)
class SettingResult:
    """A choice of the settings that are varied, with a run for each seed."""

    number: int
    values: dict[str, Any]
    state: str
    """As a run's; of a search's trial that was stopped early, pruned."""
    runs: tuple[RunResult, ...] = field(repr=False)
    why: str = ""
    """Why it failed."""
    reported: float | None = None
    """The newest score during training that decided about pruning."""

    @property
    def score(self) -> Interval | None:
        """The mean score over seeds and its 95 % interval, None until all are finished; a single run has its own."""
        known = [run.score for run in self.runs if run.score is not None]
        if self.state != FINISHED or not known or len(known) < len(self.runs):
            return None
        if len(known) == 1:
            mean, reach = known[0]
            return Interval(mean, float("inf") if reach is None else reach)
        return mean95([mean for mean, _ in known])


@dataclass(frozen=True)
class SweepResults:
    """A sweep as far as it has come."""

    path: Path
    name: str
    what: str
    """What it varies, in a line."""
    names: tuple[str, ...]
    """The settings that are varied."""
    settings: tuple[SettingResult, ...] = field(repr=False)
    is_search: bool
    total: int
    """How many runs it has when it is whole; of a search, at most."""
    importance: dict[str, float] = field(default_factory=dict)
    """The share of each setting in what the scores of a search vary."""
    logarithmic: tuple[str, ...] = ()
    """The settings that are searched on a logarithmic scale."""

    @property
    def ranked(self) -> list[SettingResult]:
        """The settings, the best score first; those without one in the order of their numbers behind them."""
        return sorted(self.settings, key=lambda each: (-each.score.mean if each.score else float("inf"), each.number))

    @property
    def best(self) -> SettingResult | None:
        """The setting with the highest mean score; None as long as none is finished."""
        first = self.ranked[0] if self.settings else None
        return first if first is not None and first.score is not None and isfinite(first.score.mean) else None

    @property
    def runs(self) -> list[RunResult]:
        """Every run that is known."""
        return [run for setting in self.settings for run in setting.runs]

    @property
    def failed(self) -> list[RunResult]:
        """The runs that failed."""
        return [run for run in self.runs if run.state == FAILED]
