"""Pictures of trainings and searches: learning curves, the posterior, reward against compliance, places of units."""

from pathlib import Path
from typing import Any

import numpy as np

from garrison.report import figure_style as style
from garrison.report.history import Run, smooth
from garrison.workflow.orders import CANONICAL, NUM_UNITS, UNITS, index_of, label, ranks
from garrison.workflow.search_log import SearchLog
from garrison.workflow.surrogate import Posterior
from garrison.workflow.tracking import ALIGNMENT, COMPLIANCE, ENV_REWARD, EPISODES

SHORT = {"defender": "D", "enterprise": "E", "op_server": "S", "op_host": "H", "user": "U"}
REWARD_COLOUR, COMPLIANCE_COLOUR, ALIGNMENT_COLOUR = style.COLOURS[0], style.COLOURS[1], style.COLOURS[2]


def plot_training(path: Path, threshold: float, out: Path, window: int = 5) -> Path:
    """Draw a training's rewards and compliance over episodes."""
    run = Run.read(path)
    figure, axes = style.new_figure(2, 1, 8.6, 6.4)
    top, bottom = axes[:, 0]
    episodes = run.series(EPISODES)[2]
    for name, metric, colour in (
        ("environment reward", ENV_REWARD, REWARD_COLOUR),
        ("alignment reward", ALIGNMENT, ALIGNMENT_COLOUR),
    ):
        values = run.series(metric)[2]
        at = episodes[-len(values) :] if len(values) else episodes[:0]
        top.plot(at, values, color=colour, alpha=0.25, linewidth=1)
        top.plot(at, smooth(values, window), color=colour, linewidth=1.8, label=name)
    top.set_ylabel("an episode's reward")
    top.legend(frameon=False, loc="lower right")
    top.set_title(run.name, loc="left")
    rates = run.series(COMPLIANCE)[2]
    bottom.plot(episodes[-len(rates) :] if len(rates) else [], rates, color=COMPLIANCE_COLOUR, linewidth=1.8)
    _threshold(bottom, threshold, horizontal=True)
    bottom.set_ylabel("compliance")
    bottom.set_ylim(0, 1.02)
    for axis in (top, bottom):
        _episodes_axis(axis)
    return style.save(figure, out / "learning_curve.png")


def plot_search(book: SearchLog, threshold: float, posterior: Posterior | None, out: Path) -> list[Path]:
    """Draw every picture of a search; return their paths."""
    paths = [
        style.save(learning_curves(book, threshold), out / "learning_curves.png"),
        style.save(reward_against_compliance(book, threshold), out / "reward_compliance.png"),
        style.save(places(book), out / "places.png"),
    ]
    if posterior is not None:
        paths.append(style.save(posterior_over_orders(book, posterior), out / "posterior.png"))
    return paths


def learning_curves(book: SearchLog, threshold: float) -> Any:
    """Draw reward and compliance of every update over the episodes of the whole search, the best so far on top."""
    figure, axes = style.new_figure(2, 1, 9.6, 6.6)
    top, bottom = axes[:, 0]
    updates = book.updates()
    before = book.base_episodes
    finals, best = [], []
    rewards, rates = [t.reward for t in book.trials], [t.score.compliance for t in book.trials]
    shown = [row[ENV_REWARD] for row in updates if ENV_REWARD in row] + rewards
    highest = -np.inf
    if book.base_episodes:
        run = Run.read(book.folder / "base")
        for axis, metric, colour in ((top, ENV_REWARD, REWARD_COLOUR), (bottom, COMPLIANCE, COMPLIANCE_COLOUR)):
            values = run.series(metric)[2]
            axis.plot(run.series(EPISODES)[2][-len(values) :], values, color=colour, linewidth=1.8)
            axis.axvline(book.base_episodes, color="#999999", linewidth=0.8)
        shown += run.series(ENV_REWARD)[2].tolist()
        note = {"xytext": (-4, 2), "textcoords": "offset points", "size": 8, "color": "#555555", "ha": "right"}
        bottom.annotate("base: all orders", (book.base_episodes, 0.03), xycoords=("data", "axes fraction"), **note)
    for trial in book.trials:
        rows = [row for row in updates if row["trial"] == trial.decision.iteration and COMPLIANCE in row]
        at = [before + row[EPISODES] for row in rows]
        top.plot(at, [row[ENV_REWARD] for row in rows], color=REWARD_COLOUR, linewidth=0.9, alpha=0.6)
        bottom.plot(at, [row[COMPLIANCE] for row in rows], color=COMPLIANCE_COLOUR, linewidth=0.9, alpha=0.6)
        before += trial.episodes
        highest = max(highest, trial.reward) if trial.observed else highest
        finals.append(before)
        best.append(highest)
    top.plot(finals, rewards, "o", color=REWARD_COLOUR, markersize=3, label="an order, measured after training")
    top.step(finals, best, where="post", color="black", linewidth=1.4, label="best that counts so far")
    top.set_ylabel("environment reward")
    style.return_axis(top, np.array(shown))
    bottom.plot(finals, rates, "o", color=COMPLIANCE_COLOUR, markersize=3)
    top.legend(frameon=False, loc="lower right", fontsize=8)
    top.set_title(f"{book.folder.name}: {len(book.trials)} orders", loc="left")
    _threshold(bottom, threshold, horizontal=True)
    bottom.set_ylabel("compliance")
    bottom.set_ylim(top=1.005)
    for axis in (top, bottom):
        _episodes_axis(axis, "episodes of the search, over all environments")
    return figure


def posterior_over_orders(book: SearchLog, posterior: Posterior) -> Any:
    """Draw mean and deviation of every order, the highest mean first, and what was observed."""
    figure, axes = style.new_figure(1, 1, 12.5, 4.8)
    axis = axes[0, 0]
    sequence = np.argsort(-posterior.mean, kind="stable")
    place = np.empty(len(sequence), int)
    place[sequence] = np.arange(len(sequence))
    mean, reach = posterior.mean[sequence], 2 * posterior.deviation[sequence]
    at = np.arange(len(sequence))
    axis.fill_between(at, mean - reach, mean + reach, color=REWARD_COLOUR, alpha=0.2, linewidth=0)
    axis.plot(at, mean, color=REWARD_COLOUR, linewidth=1.6, label="posterior mean ± 2 deviations")
    counted = [trial for trial in book.trials if trial.observed]
    axis.errorbar(
        [place[t.order] for t in counted],
        [t.reward for t in counted],
        yerr=[t.score.reward_ci95 for t in counted],
        fmt="o",
        color=style.COLOURS[1],
        markersize=3.5,
        linewidth=1,
        label="observed",
    )
    axis.set_xticks(at, [_short(int(order)) for order in sequence], rotation=90, size=5.5)
    axis.set_xlim(-1, len(sequence))
    axis.grid(False, axis="x")
    axis.set_ylabel("environment reward")
    axis.set_xlabel("order: " + ", ".join(f"{letter} {unit}" for unit, letter in SHORT.items()))
    axis.set_title(
        f"posterior over the orders: kernel length {posterior.length:.2f}, noise {np.sqrt(posterior.noise):.3f}",
        loc="left",
    )
    axis.legend(frameon=False, loc="upper right")
    return figure


def reward_against_compliance(book: SearchLog, threshold: float) -> Any:
    """Draw one point for each order tried, coloured by the most urgent unit."""
    figure, axes = style.new_figure(1, 1, 9.4, 5.6)
    axis = axes[0, 0]
    for k, unit in enumerate(UNITS):
        group = [t for t in book.trials if ranks(_units(t.order))[k] == 0]
        if group:
            axis.errorbar(
                [t.score.compliance for t in group],
                [t.reward for t in group],
                xerr=[t.score.compliance_ci95 for t in group],
                yerr=[t.score.reward_ci95 for t in group],
                fmt="o",
                markersize=4.5,
                elinewidth=0.6,
                color=style.COLOURS[k],
                label=f"{unit} first",
            )
    named = {index_of(order): name for name, order in CANONICAL.items()}
    middle = np.mean([f([t.score.compliance for t in book.trials]) for f in (min, max)])
    for trial in book.trials:
        if trial.order in named:
            is_right = trial.score.compliance > middle
            axis.annotate(
                named[trial.order],
                (trial.score.compliance, trial.reward),
                xytext=(-5 if is_right else 5, 4),
                ha="right" if is_right else "left",
                textcoords="offset points",
                size=7.5,
            )
    _threshold(axis, threshold, horizontal=False)
    axis.set_xlabel("compliance")
    axis.set_ylabel("environment reward")
    axis.set_title(f"{len(book.trials)} orders, measured after training (95 % intervals)", loc="left")
    axis.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    return figure


def places(book: SearchLog) -> Any:
    """Draw the mean reward of the orders tried in which a unit has a place."""
    total, number = np.zeros((NUM_UNITS, NUM_UNITS)), np.zeros((NUM_UNITS, NUM_UNITS))
    for trial in book.trials:
        for unit, place in enumerate(ranks(_units(trial.order))):
            total[unit, place] += trial.reward
            number[unit, place] += 1
    means = np.full_like(total, np.nan)
    np.divide(total, number, out=means, where=number > 0)
    figure, axes = style.new_figure(1, 1, 6.6, 4.6)
    axis = axes[0, 0]
    axis.grid(False)
    image = axis.imshow(means, cmap="viridis", aspect="auto")
    middle = np.nanmean([np.nanmin(means), np.nanmax(means)])
    for unit in range(NUM_UNITS):
        for place in range(NUM_UNITS):
            if number[unit, place]:
                colour = "white" if means[unit, place] < middle else "black"
                axis.text(place, unit, f"{means[unit, place]:.1f}", ha="center", va="center", color=colour)
    axis.set_xticks(range(NUM_UNITS), [f"{k + 1}." for k in range(NUM_UNITS)])
    axis.set_yticks(range(NUM_UNITS), UNITS)
    axis.set_xlabel("place in the order (1. is the most urgent)")
    axis.set_title(f"mean environment reward by unit and place, {len(book.trials)} orders", loc="left", size=10)
    figure.colorbar(image, ax=axis, shrink=0.85)
    return figure


def _units(order: int) -> tuple[str, ...]:
    return tuple(label(order).split(" → "))


def _short(order: int) -> str:
    return "".join(SHORT[unit] for unit in _units(order))


def _threshold(axis: Any, threshold: float, horizontal: bool) -> None:
    draw = axis.axhline if horizontal else axis.axvline
    draw(threshold, color="#555555", linewidth=1, linestyle="--")


def _episodes_axis(axis: Any, text: str = "episodes, over all environments") -> None:
    from matplotlib.ticker import EngFormatter

    axis.set_xlabel(text)
    axis.xaxis.set_major_formatter(EngFormatter(sep=" "))
