"""The record as a picture for the README and papers; the page draws the same runs for the screen."""

from pathlib import Path
from typing import Any

from garrison.challenge.leaderboard import TABLE_RULES, leaderboard
from garrison.report import figure_style

LOWEST = -200.0  # totals of the first steps would flatten the rest


def draw(runs: list[dict[str, Any]], path: Path) -> Path:
    """Draw the official total against wall time and steps, a row for each set of rules; return the picture's path."""
    rules = list(dict.fromkeys(run["evaluation"]["rules"] for run in runs))
    figure, axes = figure_style.new_figure(len(rules), 2, 11, 0.6 + 3.8 * len(rules))
    for row, name in zip(axes, rules, strict=True):
        _draw_row(row, [run for run in runs if run["evaluation"]["rules"] == name], name)
    return figure_style.save(figure, path)


def _draw_row(axes: Any, runs: list[dict[str, Any]], rules: str) -> None:
    """Draw runs under the same rules; the winner of the challenge only if it played under them too."""
    winner = leaderboard()[0].total
    presets = list(dict.fromkeys(run["preset"] for run in runs))
    measures = (("seconds", "wall time, minutes", 60.0), ("step", "environment steps, millions", 1e6))
    for axis, (key, label, scale) in zip(axes, measures, strict=True):
        named: set[str] = set()
        for run in runs:
            points = [p for p in run["curve"] if p["total"] > LOWEST]
            axis.plot(
                [p[key] / scale for p in points],
                [p["total"] for p in points],
                color=figure_style.series_colour(presets.index(run["preset"])),
                alpha=0.85,
                linewidth=1.3,
                label=None if run["preset"] in named else run["preset"],
            )
            named.add(run["preset"])
        if rules == TABLE_RULES:
            axis.axhline(winner, color="#333333", linewidth=1, linestyle="--")
            note = f"winner of the challenge, {winner}"
            axis.text(0.99, winner - 0.6, note, ha="right", va="top", transform=axis.get_yaxis_transform())
        axis.set_xlabel(label)
        axis.set_ylim(-100, -42)
    axes[0].set_ylabel(f"official total, rules {rules}")
    axes[0].legend(loc="lower right", frameon=False)
