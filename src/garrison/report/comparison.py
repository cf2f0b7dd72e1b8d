"""Runs side by side: the facts about each, and their table. The curves are on the page, see `comparison_page`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from garrison.learn import stages
from garrison.report.history import REWARD, SPEED, RunHistory
from garrison.text import cell

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
    "ci95": "± (95 %)",
    "rules": "rules",
    "peak_memory_gb": "peak memory, GB",
}
"""How the table names each fact, in its order; the shares of the time follow."""
PROBLEM = ("env", "red", "length", "rules")
"""What must be equal for returns to be comparable."""


def tell_apart(runs: list[RunHistory]) -> list[RunHistory]:
    """Name runs of the same name by their folders."""
    names = [run.name for run in runs]
    return [replace(run, name=str(run.path)) if names.count(run.name) > 1 else run for run in runs]


def facts(run: RunHistory) -> Facts:
    """Return what is known about a run, under plain keys; None is unknown."""
    summary = run.summary
    task, evaluation = summary.get("task", {}), summary.get("evaluation", {})
    rewards, speeds, memory = (run.series(name)[2] for name in (REWARD, SPEED, "system/peak_memory_gb"))
    return {
        "run": run.name,
        "status": run.status,
        "learner": summary.get("training_mode"),
        "env": summary.get("env"),
        "red": _red(task.get("red_odds", {})) or task.get("red"),
        "length": task.get("length"),
        "backend": task.get("backend"),
        "envs": summary.get("total_envs"),
        "seed": summary.get("seed"),
        "steps": run.steps,
        "updates": summary.get("total_updates") or run.updates,
        "seconds": round(run.seconds, 1),
        "steps_per_second": round(run.steps / run.seconds, 1) if run.seconds else None,
        "median_steps_per_second": round(float(np.median(speeds)), 1) if len(speeds) else None,
        "first_return": round(float(rewards[0]), 3) if len(rewards) else None,
        "final_return": round(float(rewards[-1]), 3) if len(rewards) else None,
        "best_return": round(float(rewards.max()), 3) if len(rewards) else None,
        "total": run.total[0] if run.total else None,
        "ci95": run.total[1] if run.total else None,
        "rules": evaluation.get("rules") or task.get("rules"),
        "peak_memory_gb": round(float(memory.max()), 2) if len(memory) else None,
        "time_split": {stage: round(share, 4) for stage, share in run.stages.items()},
    }


def differences(table: list[Facts]) -> str:
    """Return a sentence about what makes the runs' returns incomparable; empty if nothing does."""
    keys = [key for key in PROBLEM if len({row[key] for row in table if row[key] is not None}) > 1]
    if not keys:
        return ""
    named = ", ".join(HEADINGS[key] for key in keys)
    return f"These runs solve different problems ({named}): their returns cannot be compared."


def rendered(table: list[Facts]) -> list[list[str]]:
    """Return the rows of the table: a heading, then each run's value; what no run knows is left out."""
    known = [key for key in HEADINGS if any(row[key] is not None for row in table)]
    rows = [[HEADINGS[key], *(cell(row[key]) for row in table)] for key in known]
    shares = [stage_shares(row["time_split"]) for row in table]
    found = stages.in_order({stage for row in table for stage in row["time_split"]})
    for stage in stage_shares(dict.fromkeys(found, 0.0)):
        cells = [cell(100.0 * split[stage] if stage in split else None) for split in shares]
        rows.append([f"time in {stage}, %", *cells])
    return rows


def to_text(table: list[Facts]) -> str:
    """Return the table as lines, one run per column."""
    rows = rendered(table)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join((row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:]))) for row in rows]
    warning = differences(table)
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], *(["", warning] if warning else [])])


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


def _red(odds: Mapping[str, float]) -> str | None:
    if len(odds) < 2:
        return next(iter(odds), None)
    return ",".join(f"{name}:{share:g}" for name, share in odds.items())
