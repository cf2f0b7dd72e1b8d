"""Which actions a run takes: while it trains, and in the official score."""

from collections.abc import Mapping

import numpy as np

from garrison.learn.action_mix import PREFIX
from garrison.report.curves import binned
from garrison.report.history import RunHistory
from garrison.report.page import NARROW, Figure, Page, areas, stacked
from garrison.tasks.cage2 import kind_of
from garrison.viewer import palette

BINS = 60  # stretches of a run over which shares are averaged
HEIGHT = 260.0
LISTED = 30  # actions in the table
OTHER_COLOUR = "grey66"

Parts = dict[str, list[float]]


def add_actions(page: Page, run: RunHistory) -> None:
    """Add the section; kinds of actions have one colour in both charts."""
    training, scored = _while_training(run), run.summary.get("action_mix") or {}
    if training is None and not scored:
        return
    at, parts = training or ([], {})
    by_kind = {red: _by_kind(shares) for red, shares in scored.items()}
    kinds = dict.fromkeys(kind for shares in by_kind.values() for kind in shares)
    mix = {kind: [shares.get(kind, 0.0) for shares in by_kind.values()] for kind in kinds}
    own = sorted(parts or mix, key=lambda kind: -sum((parts or mix)[kind]))
    names = list(dict.fromkeys([*own, *mix]))[: palette.NUM_SERIES]
    figures = []
    if parts:
        shown, colours = _named(parts, names)
        told = "actions while training"
        chart = areas(at, shown, x_label="environment steps", colours=colours, width=NARROW, height=HEIGHT, name=told)
        figures.append(Figure(chart, "While training", "Share of the collected actions."))
    if mix:
        shown, colours = _named(mix, names)
        label, told = "% of the steps", "actions in the official score"
        chart = stacked(list(scored), shown, share=True, x_label=label, colours=colours, width=NARROW, name=told)
        figures.append(Figure(chart, "In the official score", "Against each attacker, the likeliest actions."))
    page.section("Actions").grid(figures)
    if scored:
        _add_table(page, scored)


def _while_training(run: RunHistory) -> tuple[list[float], Parts] | None:
    """Return where stretches of the run end, and each kind's share in them; None if it was not logged."""
    names = run.metrics(PREFIX)
    if not names:
        return None
    rows = [row for row in run.rows if any(name in row for name in names)]
    shares = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    at, means = binned(np.array([row["step"] for row in rows], np.float64), shares, BINS)
    return at, {name.removeprefix(PREFIX): [row[k] for row in means] for k, name in enumerate(names)}


def _named(parts: Parts, names: list[str]) -> tuple[Parts, list[str]]:
    """Return the parts in the order of names, those without one together, and the colour of each."""
    shown = {name: parts[name] for name in names if name in parts}
    colours = [palette.of_series(names.index(name)) for name in shown]
    others = [values for name, values in parts.items() if name not in shown]
    if others:
        shown[f"{len(others)} others"] = [sum(column) for column in zip(*others, strict=True)]
        colours.append(OTHER_COLOUR)
    return shown, colours


def _by_kind(shares: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for action, share in shares.items():
        found[kind_of(action)] = found.get(kind_of(action), 0.0) + share
    return found


def _add_table(page: Page, scored: Mapping[str, Mapping[str, float]]) -> None:
    found = dict.fromkeys(action for shares in scored.values() for action in shares)
    most = {action: max(shares.get(action, 0.0) for shares in scored.values()) for action in found}
    actions = sorted(most, key=lambda action: -most[action])[:LISTED]
    rows = [[action, *(f"{100 * scored[red].get(action, 0.0):.1f} %" for red in scored)] for action in actions]
    page.table(["action", *scored], rows, folded=f"The {len(actions)} most frequent actions")
