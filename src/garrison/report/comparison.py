"""Runs side by side: a table of facts and a picture."""

from typing import Any

import numpy as np

from garrison.report import figure_style as style
from garrison.report.history import REWARD, Run, in_order, smooth


def label(runs: list[Run]) -> list[Run]:
    """Give runs of the same name their folder as well, so that each can be told apart."""
    names = [run.name for run in runs]
    return [
        Run(str(run.path) if names.count(run.name) > 1 else run.name, run.path, run.rows, run.summary) for run in runs
    ]


def facts(run: Run) -> dict[str, Any]:
    """Return what the table says about a run; None where it does not know."""
    rewards = run.series(REWARD)[2]
    speeds = run.series("time/fps")[2]
    memory = run.series("system/peak_memory_gb")[2]
    summary = run.summary
    return {
        "run": run.name,
        "status": run.status,
        "algorithm": summary.get("training_mode"),
        "environment": summary.get("env"),
        "backend": summary.get("task", {}).get("backend"),
        "environments": summary.get("total_envs"),
        "seed": summary.get("seed"),
        "steps": run.steps,
        "seconds": round(run.seconds, 1),
        "steps/s": round(run.steps / run.seconds, 1) if run.seconds else None,
        "steps/s, median update": round(float(np.median(speeds)), 1) if len(speeds) else None,
        "first return": round(float(rewards[0]), 3) if len(rewards) else None,
        "last return": round(float(rewards[-1]), 3) if len(rewards) else None,
        "best return": round(float(rewards.max()), 3) if len(rewards) else None,
        "official total": run.total[0] if run.total else None,
        "± (95 %)": run.total[1] if run.total else None,
        "rules": summary.get("evaluation", {}).get("rules"),
        "peak memory, GB": round(float(memory.max()), 2) if len(memory) else None,
        **{f"time in {stage}, %": round(100 * share, 1) for stage, share in run.stage_shares.items()},
    }


def to_text(table: list[dict[str, Any]]) -> str:
    """Return the facts as lines, one run a column."""
    keys = list(dict.fromkeys(key for row in table for key in row))
    rows = [(key, *(_shown(row.get(key)) for row in table)) for key in keys]
    rows = [row for row in rows if any(cell != "-" for cell in row[1:])]
    widths = [max(len(row[k]) for row in rows) for k in range(len(table) + 1)]
    lines = ["  ".join((row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:]))) for row in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def draw(runs: list[Run], window: int) -> Any:
    """Draw return over steps and over time, speed, losses and the time split."""
    figure, axes = style.new_figure(3, 3, 14, 11)
    curves = [
        (axes[0, 0], REWARD, "return", "steps"),
        (axes[0, 1], REWARD, "return", "minutes"),
        (axes[0, 2], "time/fps", "1000 steps/s with learning", "minutes"),
        (axes[1, 0], "train/policy_loss", "policy loss", "steps"),
        (axes[1, 1], "train/value_loss", "value loss", "steps"),
        (axes[1, 2], "train/entropy", "entropy", "steps"),
        (axes[2, 0], "train/policy_loss", "policy loss", "minutes"),
        (axes[2, 1], "train/value_loss", "value loss", "minutes"),
    ]
    for axis, name, title, x in curves:
        drawn = []
        for k, run in enumerate(runs):
            steps, minutes, values = run.series(name)
            values = values / 1000.0 if name == "time/fps" else values
            if len(values):
                axis.plot(
                    steps if x == "steps" else minutes,
                    smooth(values, window),
                    color=style.COLOURS[k % len(style.COLOURS)],
                    linewidth=1.6,
                    label=run.name,
                )
                drawn.append(values)
        shown = np.concatenate(drawn) if drawn else np.zeros(0)
        if name == REWARD:
            style.return_axis(axis, shown)
        elif name == "train/value_loss" and len(shown) and shown.min() > 0:
            axis.set_yscale("log")
        elif name == "time/fps":
            axis.set_ylim(bottom=0)
        axis.set_title(title, loc="left", size=11)
        if x == "steps":
            style.steps_axis(axis)
        else:
            axis.set_xlabel("minutes")
    _draw_split(axes[2, 2], runs)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=min(4, max(1, len(labels))), frameon=False)
    return figure


def _draw_split(axis: Any, runs: list[Run]) -> None:
    stages = in_order({stage for run in runs for stage in run.stages})
    left = np.zeros(len(runs))
    for stage in stages:
        shares = np.array([100 * run.stages.get(stage, 0.0) for run in runs])
        label = stage.replace("_", ": ")
        axis.barh(range(len(runs)), shares, left=left, color=style.STAGES.get(stage, "#999999"), label=label)
        left += shares
    axis.set_yticks(range(len(runs)), [run.name for run in runs])
    axis.invert_yaxis()
    axis.grid(False, axis="y")
    axis.set_xlim(0, 100)
    axis.set_xlabel("% of the time")
    axis.set_title("time split", loc="left", size=11)
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=3, frameon=False, fontsize=8)


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
