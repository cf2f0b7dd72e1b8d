"""The results of a sweep, read from its folder and its study; as a table, as CSV, and the best settings as a file."""

import csv
import io
from math import isfinite
from typing import Any

from garrison.report.run_groups import written_score
from garrison.report.run_state import RUNNING
from garrison.report.sweep_results import PRUNED, RunResult, SettingResult, SweepResults
from garrison.runs.experiment_file import to_text as experiment_text
from garrison.storage.atomic import write_text
from garrison.sweeps.choices import runs_of_setting
from garrison.sweeps.study import OPEN, SearchTrial, Study
from garrison.sweeps.sweep_plan import Setting, SweepPlan
from garrison.sweeps.sweep_runs import DIVERGED, FAILED, FINISHED, STOPPED, WAITING, SweepFolder
from garrison.sweeps.varied import Range, short_name, with_values, written_value

ORDER = (FAILED, DIVERGED, RUNNING, STOPPED, WAITING)
"""Of a setting's runs in several states, the first of these is the setting's."""
ROWS = 30
"""Of the table on the screen."""


def collect(plan: SweepPlan, folder: SweepFolder, study: Study | None) -> SweepResults:
    """Return what came of a sweep so far; `study` is that of a search."""
    trials: list[SearchTrial | Setting] = [*study.trials()] if study is not None else [*plan.settings]
    logarithmic = [each.name for each in plan.varied if isinstance(each, Range) and each.log]
    return SweepResults(
        folder.path,
        plan.name,
        plan.describe(),
        tuple(plan.names),
        tuple(_setting(plan, folder, each) for each in trials),
        plan.is_search,
        plan.runs,
        study.importance() if study is not None else {},
        tuple(logarithmic),
    )


def _setting(plan: SweepPlan, folder: SweepFolder, tried: SearchTrial | Setting) -> SettingResult:
    trial = tried if isinstance(tried, SearchTrial) else None
    setting = trial.setting if trial is not None else tried
    assert isinstance(setting, Setting)
    is_pruned = trial is not None and trial.state == PRUNED
    runs = []
    for run in runs_of_setting(plan, folder, setting):
        look = run.look()
        state = PRUNED if is_pruned and look.state in (STOPPED, WAITING, RUNNING) else look.state
        runs.append(RunResult(run.name, run.seed, run.path, state, look.score, look.history, look.message))
    states = {run.state for run in runs}
    word = next((state for state in ORDER if state in states), FINISHED)
    if trial is not None and trial.state != OPEN:
        word = {"complete": FINISHED}.get(trial.state, trial.state)
    reports = trial.reports if trial is not None else {}
    newest = reports[max(reports)] if reports else None
    why = trial.why if trial is not None else ""
    return SettingResult(setting.number, dict(setting.values), word, tuple(runs), why, newest)


def write_results(results: SweepResults, plan: SweepPlan, folder: SweepFolder) -> None:
    """Write the table and, as soon as one is finished, the best settings."""
    write_text(folder.table, to_csv(results))
    if (best := results.best) is not None:
        write_text(folder.best, best_text(results, plan, best))


def to_csv(results: SweepResults) -> str:
    """Return a row for each run."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["setting", "seed", "state", *results.names, "score", "ci95", "last_return", "steps", "seconds", "run"]
    )
    for setting in results.settings:
        exact = [setting.values.get(name) for name in results.names]
        values = [written_value(value) if isinstance(value, list) else value for value in exact]
        for run in setting.runs:
            score, reach = run.score or (None, None)
            steps = run.history.steps if run.history is not None else None
            seconds = run.history.seconds if run.history is not None else None
            place = run.path.relative_to(results.path).as_posix()
            head = [setting.number, run.seed, run.state, *values]
            writer.writerow([*head, score, reach, run.last_return, steps, seconds, place])
    return out.getvalue()


def best_text(results: SweepResults, plan: SweepPlan, best: SettingResult) -> str:
    """Return the best settings as a file that `garrison train` takes."""
    count = plan.config.seeds
    score = (written_score(best.score) or "").replace("±", "+-")
    values = ", ".join(f"{name}: {written_value(value)}" for name, value in best.values.items())
    lines = [
        f"the best of {len(results.settings)} settings of the sweep {results.path.resolve().name}",
        f"score {score} (95 % confidence), {f'mean of {count} seeds' if count > 1 else '1 seed'}",
        *([values] if values else []),
    ]
    # Fit for a comment, whatever a folder or a value is called.
    comments = [line if line.isascii() and line.isprintable() else ascii(line) for line in lines]
    settings = experiment_text(with_values(plan.experiment, best.values))
    return "".join(f"# {line}\n" for line in comments) + settings


def facts(results: SweepResults) -> list[dict[str, Any]]:
    """Return what JSON says of each setting, the best first."""
    found = []
    for setting in results.ranked:
        score = setting.score
        found.append(
            {
                "setting": setting.number,
                "values": setting.values,
                "state": setting.state,
                "score": score.mean if score is not None else None,
                "ci95": score.reach if score is not None and isfinite(score.reach) else None,
                "runs": [str(run.path) for run in setting.runs],
            }
        )
    return found


def to_text(results: SweepResults) -> str:
    """Return the table for a terminal, the best settings first."""
    ranked = results.ranked
    header = ["setting", *map(short_name, results.names), "state", "seeds", "score"]
    rows = [header]
    for setting in ranked[:ROWS]:
        done = sum(run.score is not None for run in setting.runs)
        values = [written_value(setting.values.get(name)) for name in results.names]
        score = written_score(setting.score) or "-"
        rows.append([str(setting.number), *values, setting.state, f"{done}/{len(setting.runs)}", score])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    if len(ranked) > ROWS:
        lines.append(f"... and {len(ranked) - ROWS} more, in {results.path / 'table.csv'}")
    return "\n".join(lines)
