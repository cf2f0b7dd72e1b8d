"""Learning curves of several seeds: their means, how far these can be trusted, and whose are better."""

from collections.abc import Callable
from typing import Any

from garrison.bench.method.labels import GARRISON
from garrison.bench.publish.stored import StoredResult
from garrison.tasks.confidence import Interval, difference95, mean95

LearningRun = dict[str, Any]
"""One entry of `runs` in learning.json."""
HEADER = ("environment", "steps", "at the end, ours", "SB3's", "whole run, ours", "SB3's", "verdict")
SAME, BETTER, WORSE, UNKNOWN = "within confidence", "better", "worse", "too few seeds"


def environments(result: StoredResult) -> list[str]:
    """Return the environments that both sides have learned."""
    sides = {env: {run["labels"]["who"] for run in _runs(result, env=env)} for env in _envs(result)}
    return [env for env, who in sides.items() if len(who) > 1]


def side(result: StoredResult, env: str, ours: bool) -> list[LearningRun]:
    """Return the runs of one side."""
    return [run for run in _runs(result, env=env) if (run["labels"]["who"] == GARRISON) == ours]


def points(runs: list[LearningRun]) -> list[tuple[int, Interval | None]]:
    """Return the mean curve, at the end of every window; None where a run has no episode."""
    found: list[tuple[int, Interval | None]] = []
    for window in zip(*(run["curve"] for run in runs), strict=True):
        values = [point["return"] for point in window]
        found.append((window[0]["step"], None if None in values else mean95(values)))
    return found


def end(run: LearningRun) -> float | None:
    """Return a run's mean return over its last quarter; None if no episode ended there."""
    return _mean(run["curve"][-(len(run["curve"]) // 4) :])


def whole(run: LearningRun) -> float | None:
    """Return a run's mean return over all windows: what counts who learns faster."""
    return _mean(run["curve"])


def verdicts(result: StoredResult) -> list[tuple[str, ...]]:
    """Return the columns of `HEADER`."""
    rows = []
    for env in environments(result):
        steps = side(result, env, ours=True)[0]["settings"]["steps"]
        cells, said = [], []
        for what, score in (("at the end", end), ("whole run", whole)):
            ours, theirs = (_scores(side(result, env, mine), score) for mine in (True, False))
            cells += [_written(ours), _written(theirs)]
            said.append((what, verdict(ours, theirs)))
        same = said[0][1] == said[1][1]
        rows.append((env, f"{steps:,}", *cells, said[0][1] if same else ", ".join(f"{v} {what}" for what, v in said)))
    return rows


def verdict(ours: list[float], theirs: list[float]) -> str:
    """Say whether our mean is better or worse, or whether the 95 % interval of the difference has 0 in it."""
    if min(len(ours), len(theirs)) < 2:
        return UNKNOWN
    difference, reach = difference95(ours, theirs)
    if abs(difference) <= reach:
        return SAME
    return BETTER if difference > 0 else WORSE


def written(value: Interval) -> str:
    """Write a mean with its confidence."""
    return f"{value.mean:,.1f} ± {value.reach:,.1f}" if value.reach < float("inf") else f"{value.mean:,.1f}"


def _written(scores: list[float]) -> str:
    return written(mean95(scores)) if scores else ""


def _scores(runs: list[LearningRun], score: Callable[[LearningRun], float | None]) -> list[float]:
    return [value for run in runs if (value := score(run)) is not None]


def _mean(windows: list[dict[str, Any]]) -> float | None:
    values = [window["return"] for window in windows if window["return"] is not None]
    return sum(values) / len(values) if values else None


def _envs(result: StoredResult) -> list[str]:
    return list(dict.fromkeys(run["labels"]["env"] for run in result["runs"]))


def _runs(result: StoredResult, env: str) -> list[LearningRun]:
    return [run for run in result["runs"] if run["labels"]["env"] == env]
