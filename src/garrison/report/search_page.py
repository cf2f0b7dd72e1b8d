"""The page of a search of orders: what was found, how the search got there, and every order that it tried."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np

from garrison.cage2.workflow import UNITS
from garrison.formatting import clock, plural, short
from garrison.report.history import spans_magnitudes
from garrison.report.page import (
    BROAD,
    NARROW,
    Cell,
    Chart,
    Figure,
    Mark,
    Page,
    Series,
    Tile,
    heatmap,
    lines,
    scatter,
)
from garrison.report.run_origin import add_notes
from garrison.report.run_page import MOMENT, SLOWEST
from garrison.report.run_state import RunState
from garrison.report.search_history import PLACES, SearchHistory, order_text
from garrison.runs.page_rhythm import FILE

Tried = dict[str, Any]

FEW = 20  # rows of a table that is not folded
TRIAL_PATIENCE = 600.0
"""Seconds without news, beyond thrice the usual, after which a search is taken for dead: an order takes minutes."""


def search_page(search: SearchHistory, state: RunState, now: float, seconds: float | None = None) -> Page:
    """Return the page of a search that is in this state `now`; `seconds` until it is written again, None: never."""
    found = _best(search.orders)
    page = Page(search.path.name, _lead(search), kind="search of orders").badge(state.word, state.badge)
    written = f"{datetime.fromtimestamp(now):{MOMENT}}"
    told = f"Written {written}"
    if seconds is not None:
        old = f"No news since {written}: if the search was stopped, go on with `{_command(search)}`."
        page.live(now, min(SLOWEST, max(2.0, seconds)), 3 * seconds + TRIAL_PATIENCE, old)
        told += " after an order was tried. It loads itself anew while the search goes on"
    page.remark(f"{told}.")
    if state.text:
        (page.note if state.badge == "bad" else page.text)(state.text)
    page.tiles(_tiles(search, found))
    if found is not None:
        page.text(f"Best of those that comply: {order_text(found['order'])} (order {found['order']}).")
    elif search.orders:
        page.note(f"No order has reached the compliance {search.threshold:g} so far.")
    if search.orders:
        page.section("Progress")
        page.chart(_progress(search, BROAD), "Reward of each order, and the best", _TOLD, _progress(search, NARROW))
        page.section("Reward and compliance")
        page.grid([_compliance(search), _places(search), *_posterior(search)])
        _add_orders(page, search, found)
    if search.run is not None:
        add_notes(page, search.run)
    page.section("Go on").text("A search that was stopped keeps every order that it finished:").code(_command(search))
    return page


_TOLD = "Over the episodes of the whole search. Hollow points do not comply, so they do not count."


def write_search_page(search: SearchHistory, state: RunState, now: float, seconds: float | None) -> None:
    """Write the page into the folder of the search."""
    search_page(search, state, now, seconds).write(search.path / FILE)


def _command(search: SearchHistory) -> str:
    return f"garrison workflow search --resume {search.path}"


def _lead(search: SearchHistory) -> str:
    settings = search.settings
    env, method = settings.get("env") or {}, (settings.get("search") or {}).get("method", "a method")
    red = env.get("red", "an attacker")
    return f"{method} over 120 orders, against {red}, compliance from {search.threshold:g} counts"


def _best(orders: Sequence[Tried]) -> Tried | None:
    counted = [tried for tried in orders if tried["counts"]]
    return max(counted, key=lambda tried: float(tried["reward"]), default=None)


def _tiles(search: SearchHistory, found: Tried | None) -> list[Tile]:
    tiles = []
    if found is not None:
        tiles.append(Tile(f"{found['reward']:.2f} ± {found['reward_ci95']:.2f}", "best reward that counts"))
        tiles.append(Tile(f"{found['compliance']:.3f}", "its compliance"))
    tiles.append(Tile(str(len(search.orders)), "orders tried", "of 120; with revisits one may be tried twice"))
    tiles.append(Tile(str(sum(bool(tried["counts"]) for tried in search.orders)), "of them count"))
    tiles.append(Tile(short(_spent(search)[-1] if search.orders else search.base_episodes), "episodes"))
    if search.seconds:
        tiles.append(Tile(clock(search.seconds), "searched"))
    return tiles


def _spent(search: SearchHistory) -> list[float]:
    """Return the episodes of the search after each order."""
    spent = np.cumsum([tried["episodes"] for tried in search.orders])
    return [float(search.base_episodes + episodes) for episodes in spent]


def _progress(search: SearchHistory, width: float) -> Chart:
    at, rewards = _spent(search), [float(tried["reward"]) for tried in search.orders]
    best: list[tuple[float, float | None]] = [(float(search.base_episodes), None)]
    for episodes, tried in zip(at, search.orders, strict=True):
        before = best[-1][1]
        reward = float(tried["reward"])
        now = max(reward, reward if before is None else before) if tried["counts"] else before
        best += [(episodes, before), (episodes, now)]  # a step
    reaches = [float(tried["reward_ci95"]) for tried in search.orders]
    points = Series(
        "an order",
        at,
        rewards,
        [reward - reach for reward, reach in zip(rewards, reaches, strict=True)],
        [reward + reach for reward, reach in zip(rewards, reaches, strict=True)],
        doubtful=[not tried["counts"] for tried in search.orders],
        tips=[_tip(tried) for tried in search.orders],
        joined=False,
    )
    marks = [Mark(search.base_episodes, "base: all orders")] if search.base_episodes else []
    return lines(
        [Series("best that counts so far", [x for x, _ in best], [y for _, y in best], marked=False), points],
        x_label="episodes of the search",
        y_label="environment reward",
        costs=spans_magnitudes(np.array(rewards, np.float64)),
        marks=marks,
        height=340 if width == BROAD else 280,
        width=width,
        own_ticks=False,
        name="reward of each order over the episodes of the search",
    )


def _tip(tried: Tried) -> str:
    return f"{order_text(tried['order'])}: reward {tried['reward']:.2f}, compliance {tried['compliance']:.3f}"


def _compliance(search: SearchHistory) -> Figure:
    series = []
    for k, unit in enumerate(UNITS):
        group = [tried for tried in search.orders if PLACES[tried["order"], k] == 0]
        if group:
            x, y = [tried["compliance"] for tried in group], [tried["reward"] for tried in group]
            doubtful = [not tried["counts"] for tried in group]
            series.append(Series(f"{unit} first", x, y, doubtful=doubtful, tips=[_tip(tried) for tried in group]))
    chart = scatter(
        series,
        x_label="compliance",
        y_label="environment reward",
        marks=[Mark(search.threshold, "threshold")],
        height=300,
        width=NARROW,
        name="reward of each order against its compliance",
    )
    return Figure(chart, "Reward against compliance", "A point for each order, coloured by its most urgent unit.")


def _places(search: SearchHistory) -> Figure:
    means, _ = search.mean_by_place()
    chart = heatmap(
        UNITS,
        [f"{place + 1}." for place in range(len(UNITS))],
        [[float(value) if np.isfinite(value) else None for value in row] for row in means],
        write=lambda value: f"{value:.1f}",
        width=NARROW,
        name="mean reward by unit and place",
    )
    return Figure(chart, "Mean reward by unit and place", "Over the orders tried; 1. is the most urgent.")


def _posterior(search: SearchHistory) -> list[Figure]:
    if search.posterior is None:
        return []
    mean, deviation = (np.array(search.posterior[key], np.float64) for key in ("mean", "deviation"))
    sequence = np.argsort(-mean, kind="stable")
    rank = np.argsort(sequence)
    middle, reach = mean[sequence], 2 * deviation[sequence]
    at = np.arange(1.0, len(sequence) + 1)
    counted = [tried for tried in search.orders if tried["counts"]]
    series = [
        Series("posterior mean", at.tolist(), middle.tolist(), (middle - reach).tolist(), (middle + reach).tolist()),
        Series(
            "observed",
            [float(rank[tried["order"]]) + 1 for tried in counted],
            [float(tried["reward"]) for tried in counted],
            tips=[_tip(tried) for tried in counted],
            joined=False,
        ),
    ]
    chart = lines(
        series,
        x_label="orders, the highest mean first",
        y_label="environment reward",
        band=True,
        height=300,
        width=NARROW,
        own_ticks=False,
        name="posterior over all orders",
    )
    told = "What the Gaussian process believes of every order, ± 2 deviations, and what was observed."
    return [Figure(chart, "Posterior over all orders", told)]


def _add_orders(page: Page, search: SearchHistory, found: Tried | None) -> None:
    page.section("Orders", "The best reward first.")
    rows: list[list[object]] = []
    for tried in sorted(search.orders, key=lambda tried: -float(tried["reward"])):
        state = ("best", "good") if tried is found else ("counts", "plain") if tried["counts"] else ("no", "bad")
        rows.append(
            [
                tried["iteration"] + 1,
                Cell(order_text(tried["order"]), tip=search.names.get(tried["order"], ""), whole=True),
                f"{tried['reward']:.2f} ± {tried['reward_ci95']:.2f}",
                f"{tried['compliance']:.3f} ± {tried['compliance_ci95']:.3f}",
                Cell(state[0], badge=state[1]),
                f"{tried['fixes']:.1f}",
                f"{tried['episodes']:,}",
                str(tried["stopped"]),
            ]
        )
    header = ["tried", "order", "reward", "compliance", "complies", "fixes", "episodes", "stopped by"]
    page.table(header, rows, folded=plural(len(rows), "order") if len(rows) > FEW else "")
