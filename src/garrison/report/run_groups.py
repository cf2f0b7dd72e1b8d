"""Runs of one setting that differ only in their seed, taken together: their name, their mean and its interval."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import isfinite
from typing import Any

from garrison.report.history import RunHistory
from garrison.report.run_facts import agents_of
from garrison.tasks.confidence import Interval, mean95

SEED_ONLY = ("learner.seed", "learner.seeds", "preset")
"""Settings in which runs of one group may differ."""
UNLEARNED = "run."
"""What the names of settings begin with that say how a run is recorded; of these only the duration matters."""
ENDS = "-_. 0123456789"


@dataclass(frozen=True)
class RunGroup:
    """Runs of one setting; a run with seeds of its own is as many of them as it has agents."""

    name: str
    runs: tuple[RunHistory, ...]

    @property
    def is_several(self) -> bool:
        """Whether there is more than one."""
        return len(self.runs) > 1

    @property
    def score(self) -> Interval | None:
        """The mean score of several runs and its interval over them; None unless all are scored."""
        scores = [score_of(run) for run in self.runs]
        known = [score[0] for score in scores if score is not None]
        return mean95(known) if self.is_several and len(known) == len(self.runs) else None

    @property
    def own_score(self) -> tuple[float, float | None] | None:
        """The score of a single run."""
        return None if self.is_several else score_of(self.runs[0])


def score_of(run: RunHistory) -> tuple[float, float | None] | None:
    """Return a run's score at the end and its reach, official or not; None without one."""
    evaluation = run.summary.get("evaluation") or {}
    for key in ("total", "mean"):
        if key in evaluation:
            return float(evaluation[key]), evaluation.get("ci95")
    return None


def written_score(score: tuple[float, float | None] | None) -> str | None:
    """Return a score as a table shows it."""
    if score is None:
        return None
    mean, reach = score
    return f"{mean:.2f}" if reach is None or not isfinite(reach) else f"{mean:.2f} ± {reach:.2f}"


def grouped(runs: Sequence[RunHistory]) -> list[RunGroup]:
    """Put runs that differ only in their seed together, in the order of the first of each."""
    found: dict[Any, list[RunHistory]] = {}
    for k, run in enumerate(runs):
        found.setdefault(setting_of(run) or k, []).append(run)
    groups = []
    for members in found.values():
        seeds = {repr(run.settings.get("learner.seed")) for run in members}
        # Two runs of one seed are one sample: they say nothing about seeds.
        groups += [_group(members)] if len(seeds) == len(members) else [_group([run]) for run in members]
    return groups


def with_agents(runs: Sequence[RunHistory]) -> list[RunHistory]:
    """Return the runs, each that trained several agents replaced by these."""
    found = []
    for run in runs:
        agents = agents_of(run)
        found += [replace(agent, name=f"{run.name}/{agent.name}") for agent in agents] if agents else [run]
    return found


def setting_of(run: RunHistory) -> tuple[Any, ...] | None:
    """Return what runs of one group have in common; None if the settings are not known."""
    kept = {
        name: value
        for name, value in run.settings.items()
        if name not in SEED_ONLY and (not name.startswith(UNLEARNED) or name == "run.duration")
    }
    return tuple((name, repr(kept[name])) for name in sorted(kept)) or None


def _group(runs: list[RunHistory]) -> RunGroup:
    if len(runs) == 1:
        return RunGroup(runs[0].name, tuple(runs))
    columns = zip(*(run.name for run in runs), strict=False)
    common = "".join(letters[0] for letters in takewhile(lambda letters: len(set(letters)) == 1, columns))
    common = common.removesuffix("/seed-")
    name = common.rstrip(ENDS) or common or runs[0].name
    return RunGroup(f"{name} ({len(runs)} seeds)", tuple(runs))
