"""Runs side by side: the facts about each, and their table. The curves are on the page, see `comparison_page`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from garrison.errors import UserError
from garrison.formatting import cell
from garrison.learn import stages
from garrison.registration import CAGE2
from garrison.report.history import REWARD, SPEED, RunHistory
from garrison.tasks.cage2 import parse_odds

Facts = dict[str, Any]

HEADINGS = {
    "run": "run",
    "status": "status",
    "learner": "learner",
    "env": "environment",
    "red": "red",
    "length": "steps per episode",
    "backend": "backend",
    "envs": "environments",
    "seed": "seed",
    "steps": "steps",
    "updates": "updates",
    "seconds": "seconds",
    "steps_per_second": "steps/s",
    "median_steps_per_second": "steps/s, median update",
    "first_return": "first return",
    "final_return": "last return",
    "best_return": "best return",
    "total": "official total",
    "score": "mean return, scored",
    "ci95": "± (95 %)",
    "rules": "rules",
    "peak_memory_gb": "peak memory, GB",
}
"""How the table names each fact, in its order; the shares of the time follow."""
PROBLEM = ("env", "red", "length", "rules")
"""What must be equal for returns to be comparable."""
UNIMPORTANT = ("run.out",)
DIFFER = "These runs differ in these settings"


def tell_apart(runs: list[RunHistory]) -> list[RunHistory]:
    """Name runs of the same name by their folders."""
    names = [run.name for run in runs]
    return [replace(run, name=str(run.path)) if names.count(run.name) > 1 else run for run in runs]


def facts(run: RunHistory) -> Facts:
    """Return what is known about a run, under plain keys; None is unknown."""
    summary, settings = run.summary, run.settings
    task, evaluation = summary.get("task") or {}, summary.get("evaluation") or {}
    is_cage2 = settings.get("env.env") == CAGE2  # only then has its attacker a meaning; a run that goes on has no task
    rewards, speeds, memory = (run.series(name)[2] for name in (REWARD, SPEED, "system/peak_memory_gb"))
    return {
        "run": run.name,
        "status": run.status,
        "learner": summary.get("training_mode") or settings.get("learner"),
        "env": summary.get("env") or settings.get("env.env"),
        "red": _red(task.get("red_odds") or {}) or task.get("red") or (_red_of(settings) if is_cage2 else None),
        "length": task.get("length") or (settings.get("env.length") if is_cage2 else None),
        "backend": task.get("backend"),
        "envs": summary.get("total_envs"),
        "seed": summary.get("seed", settings.get("learner.seed")),
        "steps": run.steps,
        "updates": summary.get("total_updates") or run.updates,
        "seconds": round(run.seconds, 1),
        "steps_per_second": round(run.steps / run.seconds, 1) if run.seconds else None,
        "median_steps_per_second": round(float(np.median(speeds)), 1) if len(speeds) else None,
        "first_return": round(float(rewards[0]), 3) if len(rewards) else None,
        "final_return": round(float(rewards[-1]), 3) if len(rewards) else None,
        "best_return": round(float(rewards.max()), 3) if len(rewards) else None,
        "total": run.total[0] if run.total else None,
        "score": evaluation.get("mean"),
        "ci95": evaluation.get("ci95"),
        "rules": evaluation.get("rules") or task.get("rules") or (settings.get("env.rules") if is_cage2 else None),
        "peak_memory_gb": round(float(memory.max()), 2) if len(memory) else None,
        "time_split": {stage: round(share, 4) for stage, share in run.stages.items()},
    }


def differences(table: list[Facts]) -> str:
    """Return a sentence about what makes the runs' returns incomparable; empty if nothing does."""
    keys = dict.fromkeys(key for row in table for key in problem_differences(row, table))
    if not keys:
        return ""
    named = ", ".join(HEADINGS[key] for key in keys)
    return f"These runs solve different problems ({named}): their returns cannot be compared."


def problem_differences(row: Facts, table: list[Facts]) -> list[str]:
    """Return the keys in which a run's problem is another than that of the first run that tells its own."""
    found = []
    for key in PROBLEM:
        first = next((other[key] for other in table if other[key] is not None), None)
        if row[key] is not None and row[key] != first:
            found.append(key)
    return found


def title(row: Facts, table: list[Facts]) -> str:
    """Return a run's name, marked where its returns cannot be compared with those of the first run."""
    others = ", ".join(HEADINGS[key] for key in problem_differences(row, table))
    return f"{row['run']} (other {others})" if others else str(row["run"])


def settings_that_differ(runs: list[RunHistory]) -> list[list[str]]:
    """Return a row for each setting in which runs differ, its name and each run's value; the folder is none."""
    names = dict.fromkeys(name for run in runs for name in run.settings if name not in UNIMPORTANT)
    rows = []
    for name in names:
        values = [run.settings.get(name) for run in runs if run.settings]
        if any(value != values[0] for value in values):
            rows.append([name, *(_exact(run.settings.get(name)) for run in runs)])
    return rows


def _exact(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return "-" if value in (None, "") else str(value)


def rendered(table: list[Facts]) -> list[list[str]]:
    """Return the rows of the table: a heading, then each run's value; what no run knows is left out."""
    known = [key for key in HEADINGS if any(row[key] is not None for row in table)]
    rows = [[HEADINGS[key], *(cell(row[key]) for row in table)] for key in known]
    rows[0][1:] = [title(row, table) for row in table]
    shares = [stage_shares(row["time_split"]) for row in table]
    found = stages.in_order({stage for row in table for stage in row["time_split"]})
    for stage in stage_shares(dict.fromkeys(found, 0.0)):
        cells = [cell(100.0 * split[stage] if stage in split else None) for split in shares]
        rows.append([f"time in {stage}, %", *cells])
    return rows


def to_text(runs: list[RunHistory], table: list[Facts]) -> str:
    """Return what differs between the runs, then the table, as lines, one run per column."""
    facts_of = _columns(rendered(table))
    lines = [facts_of[0], "-" * len(facts_of[0]), *facts_of[1:]]
    if differing := settings_that_differ(runs):
        above = _columns([["setting", *(str(row["run"]) for row in table)], *differing])
        lines = [f"{DIFFER}:", "", above[0], "-" * len(above[0]), *above[1:], "", *lines]
    warning = differences(table)
    return "\n".join([*([warning, ""] if warning else []), *lines])


def _columns(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join((row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:]))) for row in rows]


def stage_shares(split: Mapping[str, float]) -> dict[str, float]:
    """Return the shares of stages as a table shows them: a divided stage as a whole, then its parts.

    >>> stage_shares({"step_compute": 0.25, "step_wait": 0.25, "learn": 0.5})
    {'step': 0.5, 'step: compute': 0.25, 'step: wait': 0.25, 'learn': 0.5}
    """
    shown: dict[str, float] = {}
    for stage, share in split.items():
        whole, _, part = stage.partition("_")
        shown[whole] = shown.get(whole, 0.0) + share
        if part:
            shown[f"{whole}: {part}"] = share
    return shown


def _red_of(settings: Mapping[str, Any]) -> str | None:
    try:
        return _red(parse_odds(str(settings["env.red"])))
    except (KeyError, UserError):
        return None


def _red(odds: Mapping[str, float]) -> str | None:
    if len(odds) < 2:
        return next(iter(odds), None)
    return ",".join(f"{name}:{share:g}" for name, share in odds.items())
