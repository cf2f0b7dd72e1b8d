"""Figures of workflows: the training of an order, and what a search of the orders tried and believes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from garrison.cage2.workflow import ORDERS, UNITS
from garrison.report import figure_style as style
from garrison.report.history import RunHistory, smooth
from garrison.report.search_history import PLACES, SearchHistory
from garrison.report.workflow_metrics import ALIGNMENT, COMPLIANCE, ENV_REWARD, EPISODES

LETTERS = ("D", "E", "S", "H", "U")  # of the units: an order must fit under a tick
REWARD_COLOUR, COMPLIANCE_COLOUR, ALIGNMENT_COLOUR = (style.series_colour(k) for k in range(3))
NUM_UNITS = len(UNITS)


def plot_training(path: Path, threshold: float, out: Path, file_format: str = "png") -> Path:
    """Draw the training of the run in `path`; return the figure's path."""
    return style.save(training_curve(RunHistory.read(path), threshold), out / f"learning_curve.{file_format}")


def plot_search(search: SearchHistory, out: Path, file_format: str = "png") -> list[Path]:
    """Draw every figure of a search; return their paths."""
    figures: dict[str, Callable[[SearchHistory], Any]] = {
        "learning_curves": learning_curves,
        "reward_compliance": reward_against_compliance,
        "places": places,
    }
    if search.posterior is not None:
        figures["posterior"] = posterior_over_orders
    return [style.save(draw(search), out / f"{name}.{file_format}") for name, draw in figures.items()]


def training_curve(run: RunHistory, threshold: float, window: int = 5) -> Any:
    """Draw a training's rewards and compliance over episodes."""
    figure, axes = style.new_figure(2, 1, 8.6, 6.4)
    top, bottom = axes[:, 0]
    for name, metric, colour in (
        ("environment reward", ENV_REWARD, REWARD_COLOUR),
        ("alignment reward", ALIGNMENT, ALIGNMENT_COLOUR),
    ):
        episodes, values = _over_episodes(run, metric)
        top.plot(episodes, values, color=colour, alpha=0.25, linewidth=1)
        top.plot(episodes, smooth(values, window), color=colour, linewidth=1.8, label=name)
    top.set_ylabel("reward per episode")
    top.legend(frameon=False, loc="best")
    top.set_title(run.name, loc="left")
    bottom.plot(*_over_episodes(run, COMPLIANCE), color=COMPLIANCE_COLOUR, linewidth=1.8)
    _threshold(bottom, threshold, horizontal=True)
    bottom.set_ylabel("compliance")
    bottom.set_ylim(0, 1.02)
    for axis in (top, bottom):
        _episodes_axis(axis, "episodes, over all environments")
    return figure


def learning_curves(search: SearchHistory) -> Any:
    """Draw reward and compliance of every update over the episodes of the whole search, and the best so far."""
    figure, axes = style.new_figure(2, 1, 9.6, 6.6)
    top, bottom = axes[:, 0]
    rewards = [tried["reward"] for tried in search.orders]
    shown = [row[ENV_REWARD] for row in search.updates if ENV_REWARD in row] + rewards
    if search.base is not None:
        for axis, metric, colour in ((top, ENV_REWARD, REWARD_COLOUR), (bottom, COMPLIANCE, COMPLIANCE_COLOUR)):
            axis.plot(*_over_episodes(search.base, metric), color=colour, linewidth=1.8)
            axis.axvline(search.base_episodes, color=style.RULE, linewidth=0.8)
        shown += _over_episodes(search.base, ENV_REWARD)[1].tolist()
        note = {"xytext": (-4, 2), "textcoords": "offset points", "size": 8, "color": style.NOTE, "ha": "right"}
        bottom.annotate("base: all orders", (search.base_episodes, 0.03), xycoords=("data", "axes fraction"), **note)
    before, highest = search.base_episodes, -np.inf
    finals, best = [], []
    for tried in search.orders:
        rows = [row for row in search.updates if row["trial"] == tried["iteration"] and COMPLIANCE in row]
        at = [before + row[EPISODES] for row in rows]
        top.plot(at, [row[ENV_REWARD] for row in rows], color=REWARD_COLOUR, linewidth=0.9, alpha=0.6)
        bottom.plot(at, [row[COMPLIANCE] for row in rows], color=COMPLIANCE_COLOUR, linewidth=0.9, alpha=0.6)
        before += tried["episodes"]
        highest = max(highest, tried["reward"]) if tried["counts"] else highest
        finals.append(before)
        best.append(highest)
    top.plot(finals, rewards, "o", color=REWARD_COLOUR, markersize=3, label="an order, measured after training")
    top.step(finals, best, where="post", color="black", linewidth=1.4, label="best that counts so far")
    top.set_ylabel("environment reward")
    style.return_axis(top, np.array(shown))
    compliance = [tried["compliance"] for tried in search.orders]
    bottom.plot(finals, compliance, "o", color=COMPLIANCE_COLOUR, markersize=3)
    top.legend(frameon=False, loc="lower right", fontsize=8)
    top.set_title(f"{search.path.name}: {len(search.orders)} orders", loc="left")
    _threshold(bottom, search.threshold, horizontal=True)
    bottom.set_ylabel("compliance")
    bottom.set_ylim(top=1.005)
    for axis in (top, bottom):
        _episodes_axis(axis, "episodes of the search, over all environments")
    return figure


def posterior_over_orders(search: SearchHistory) -> Any:
    """Draw mean and deviation of every order, the highest mean first, and what was observed."""
    assert search.posterior is not None
    figure, axes = style.new_figure(1, 1, 12.5, 4.8)
    axis = axes[0, 0]
    mean, deviation = (np.array(search.posterior[key]) for key in ("mean", "deviation"))
    sequence = np.argsort(-mean, kind="stable")
    place = np.argsort(sequence)
    mean, reach = mean[sequence], 2 * deviation[sequence]
    at = np.arange(len(sequence))
    axis.fill_between(at, mean - reach, mean + reach, color=REWARD_COLOUR, alpha=0.2, linewidth=0)
    axis.plot(at, mean, color=REWARD_COLOUR, linewidth=1.6, label="posterior mean ± 2 deviations")
    counted = [tried for tried in search.orders if tried["counts"]]
    axis.errorbar(
        [place[tried["order"]] for tried in counted],
        [tried["reward"] for tried in counted],
        yerr=[tried["reward_ci95"] for tried in counted],
        fmt="o",
        color=style.series_colour(1),
        markersize=3.5,
        linewidth=1,
        label="observed",
    )
    axis.set_xticks(at, ["".join(LETTERS[unit] for unit in ORDERS[order]) for order in sequence], rotation=90, size=5.5)
    axis.set_xlim(-1, len(sequence))
    axis.grid(False, axis="x")
    axis.set_ylabel("environment reward")
    axis.set_xlabel("order: " + ", ".join(map(" ".join, zip(LETTERS, UNITS, strict=True))))
    length, noise = search.posterior["length"], np.sqrt(search.posterior["noise"])
    axis.set_title(f"posterior over the orders: kernel length {length:.2f}, noise {noise:.3f}", loc="left")
    axis.legend(frameon=False, loc="upper right")
    return figure


def reward_against_compliance(search: SearchHistory) -> Any:
    """Draw one point for each order tried, coloured by the most urgent unit."""
    figure, axes = style.new_figure(1, 1, 9.4, 5.6)
    axis = axes[0, 0]
    for k, unit in enumerate(UNITS):
        group = [tried for tried in search.orders if PLACES[tried["order"], k] == 0]
        if group:
            axis.errorbar(
                [tried["compliance"] for tried in group],
                [tried["reward"] for tried in group],
                xerr=[tried["compliance_ci95"] for tried in group],
                yerr=[tried["reward_ci95"] for tried in group],
                fmt="o",
                markersize=4.5,
                elinewidth=0.6,
                color=style.series_colour(k),
                label=f"{unit} first",
            )
    middle = np.mean([end(tried["compliance"] for tried in search.orders) for end in (min, max)])
    for tried in search.orders:
        if tried["order"] in search.names:
            is_right = tried["compliance"] > middle
            axis.annotate(
                search.names[tried["order"]],
                (tried["compliance"], tried["reward"]),
                xytext=(-5 if is_right else 5, 4),
                ha="right" if is_right else "left",
                textcoords="offset points",
                size=7.5,
            )
    _threshold(axis, search.threshold, horizontal=False)
    axis.set_xlabel("compliance")
    axis.set_ylabel("environment reward")
    axis.set_title(f"{len(search.orders)} orders, measured after training (95 % intervals)", loc="left")
    axis.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    return figure


def places(search: SearchHistory) -> Any:
    """Draw the mean reward of the orders tried in which a unit has a place."""
    means, number = search.mean_by_place()
    figure, axes = style.new_figure(1, 1, 6.6, 4.6)
    axis = axes[0, 0]
    axis.grid(False)
    image = axis.imshow(means, cmap="viridis", aspect="auto")
    middle = np.nanmean([np.nanmin(means), np.nanmax(means)])
    for unit, place in zip(*np.nonzero(number), strict=True):
        colour = "white" if means[unit, place] < middle else "black"
        axis.text(place, unit, f"{means[unit, place]:.1f}", ha="center", va="center", color=colour)
    axis.set_xticks(range(NUM_UNITS), [f"{k + 1}." for k in range(NUM_UNITS)])
    axis.set_yticks(range(NUM_UNITS), UNITS)
    axis.set_xlabel("place in the order (1. is the most urgent)")
    axis.set_title(f"mean environment reward by unit and place, {len(search.orders)} orders", loc="left", size=10)
    figure.colorbar(image, ax=axis, shrink=0.85)
    return figure


def _over_episodes(run: RunHistory, metric: str) -> tuple[Any, Any]:
    """Return the episodes so far and the values of a metric, which is not written before an episode has ended."""
    values = run.series(metric)[2]
    episodes = run.series(EPISODES)[2]
    return episodes[len(episodes) - len(values) :], values


def _threshold(axis: Any, threshold: float, horizontal: bool) -> None:
    draw = axis.axhline if horizontal else axis.axvline
    draw(threshold, color=style.NOTE, linewidth=1, linestyle="--")


def _episodes_axis(axis: Any, text: str) -> None:
    from matplotlib.ticker import EngFormatter

    axis.set_xlabel(text)
    axis.xaxis.set_major_formatter(EngFormatter(sep=" "))
