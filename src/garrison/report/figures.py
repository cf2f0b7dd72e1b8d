"""Figures of one run for papers: learning curve, losses, time split and action mix."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from garrison.challenge import leaderboard
from garrison.learn import stages
from garrison.report import figure_style as style
from garrison.report.history import LEARNING, REWARD, SPEED, RunHistory, metric_title, smooth

FREQUENT = 14  # actions that get a bar of their own


def learning_curve(run: RunHistory, window: int = 10) -> Any:
    """Draw the return over steps beside known scores, and below it the official evaluations during training."""
    if not len(run.series(REWARD)[0]):
        return None
    at, _, totals = run.series("evaluation/total")
    figure, axes = style.new_figure(2 if len(at) else 1, 1, 8.6, 7.4 if len(at) else 4.6)
    axis = axes[0, 0]
    steps, _, values = run.series(REWARD)
    _curve(axis, steps, values, window)
    task = run.summary.get("task", {})
    marks = leaderboard.marks(task.get("red_odds", {}), task.get("length", 0), task.get("rules", ""))
    for name, mark in marks.items():
        _mark(axis, name, mark)
    style.return_axis(axis, np.concatenate([values, list(marks.values())]))
    axis.set_ylabel("mean return of the last 100 episodes")
    title = run.name if run.total is None else f"{run.name}: official total {run.total[0]:.2f} ± {run.total[1]:.2f}"
    axis.set_title(title, loc="left")
    if len(at):
        below = axes[1, 0]
        below.plot(at, totals, "o-", color=style.series_colour(1), markersize=3.5, linewidth=1.4)
        best = [leaderboard.leaderboard()[0].total] if task.get("rules") == leaderboard.TABLE_RULES else []
        for total in best:
            _mark(below, "the winner", total)
        style.return_axis(below, np.concatenate([totals, best]))
        below.set_ylabel("official total, likeliest actions")
        below.sharex(axis)
    for each in axes[:, 0]:
        style.steps_axis(each)
    return figure


def _curve(axis: Any, at: Any, values: Any, window: int) -> None:
    axis.plot(at, values, color=style.series_colour(0), alpha=0.25, linewidth=1)
    axis.plot(at, smooth(values, window), color=style.series_colour(0), linewidth=1.8)


def _mark(axis: Any, name: str, score: float) -> None:
    axis.axhline(score, color=style.NOTE, linewidth=1, linestyle="--")
    axis.annotate(
        f"{name}\n{score:.1f}", (1.01, score), xycoords=("axes fraction", "data"), ha="left", va="center", size=8
    )


def losses(run: RunHistory, window: int = 10) -> Any:
    """Draw every metric of learning, such as the parts of the loss, each on its own scale."""
    names = run.metrics(LEARNING)
    if not names:
        return None
    rows = math.ceil(len(names) / 3)
    figure, axes = style.new_figure(rows, 3, 11, 2.8 * rows)
    for axis, name in zip(axes.flat, names, strict=False):
        steps, _, values = run.series(name)
        _curve(axis, steps, values, window)
        axis.set_title(metric_title(name), loc="left", size=10)
        if name == "train/value_loss" and values.min() > 0 and values.max() > 30 * values.min():
            axis.set_yscale("log")
        style.steps_axis(axis)
    for axis in axes.flat[len(names) :]:
        axis.set_visible(False)
    figure.suptitle(run.name, x=0.01, ha="left")
    return figure


def time_split(run: RunHistory, window: int = 10) -> Any:
    """Draw where the time of each update went, and the speed."""
    shares = run.stages
    if not shares:
        return None
    figure, axes = style.new_figure(2, 1, 8, 5.6)
    rows = [(row["time/elapsed_time"] / 60.0, stages.from_metrics(row)) for row in run.rows]
    rows = [(minute, split) for minute, split in rows if split]
    # A run that was resumed may know parts that its beginning did not.
    per_update = np.array([[1000.0 * max(0.0, split.get(stage, 0.0)) for _, split in rows] for stage in shares])
    labels = [f"{stages.label(stage)} {100 * share:.0f} %" for stage, share in shares.items()]
    colours = [style.stage_colour(stage) for stage in shares]
    top, bottom = axes[:, 0]
    top.stackplot([minute for minute, _ in rows], per_update, labels=labels, colors=colours, alpha=0.9)
    top.set_ylabel("ms per update")
    if len(rows) > 3:  # the first update compiles; let it not flatten the rest
        top.set_ylim(0, 1.25 * np.percentile(per_update.sum(axis=0)[1:], 98))
    top.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)
    top.set_title(run.name, loc="left")
    _, minutes, speed = run.series(SPEED)
    _curve(bottom, minutes, speed / 1000.0, window)
    bottom.set_ylabel("1000 steps/s with learning")
    bottom.set_ylim(bottom=0)
    for axis in (top, bottom):
        axis.set_xlabel("minutes")
        axis.margins(x=0)
    return figure


def action_mix(run: RunHistory, window: int = 10) -> Any:
    """Draw how often each action was taken against each attacker in the official evaluation."""
    mix: dict[str, dict[str, float]] = run.summary.get("action_mix") or {}
    reds = [red for red in mix if mix[red]]
    if not reds:
        return None
    share = {action: max(mix[red].get(action, 0.0) for red in reds) for red in reds for action in mix[red]}
    actions = sorted(share, key=lambda action: -share[action])[:FREQUENT]
    others = len(share) - len(actions)
    labels = [*actions, f"{others} others"] if others else actions
    figure, axes = style.new_figure(1, 1, 8, 5.2)
    axis = axes[0, 0]
    height = 0.8 / len(reds)
    places = np.arange(len(labels))
    for k, red in enumerate(reds):
        values = [100 * mix[red].get(action, 0.0) for action in actions]
        values += [max(0.0, 100 - sum(values))] if others else []
        at = places + (k - (len(reds) - 1) / 2) * height
        axis.barh(at, values, height, color=style.series_colour(k), label=red)
    axis.set_yticks(places, labels)
    axis.invert_yaxis()
    axis.grid(False, axis="y")
    axis.set_xlabel("% of steps in the official evaluation")
    axis.set_title(f"{run.name}: action mix by attacker", loc="left")
    axis.legend(loc="lower right", frameon=False)
    return figure


FIGURES: dict[str, Callable[[RunHistory, int], Any]] = {
    "learning_curve": learning_curve,
    "losses": losses,
    "time_split": time_split,
    "action_mix": action_mix,
}
"""What `garrison plot` draws, by file name: a function of a run and a window for smoothing, None without data."""


def plot_run(run: RunHistory, out: Path, window: int = 10, file_format: str = "png") -> list[Path]:
    """Draw every figure that the run has data for; return their paths."""
    drawn = {name: draw(run, window) for name, draw in FIGURES.items()}
    return [style.save(figure, out / f"{name}.{file_format}") for name, figure in drawn.items() if figure is not None]
