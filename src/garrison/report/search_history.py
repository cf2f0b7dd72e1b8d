"""A search of orders as plain values, as its results say it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from garrison.cage2.workflow import ORDERS, UNITS
from garrison.report.history import Floats, RunHistory

STATE, RESULTS = "search.json", "results.json"
"""The files of a search: its trials, after each of them; and at its end what came of it."""
PLACES = np.argsort(ORDERS, axis=1)
"""(120, 5) the place of each unit in each order; 0 is the most urgent"""


@dataclass(frozen=True)
class SearchHistory:
    """What a search has tried and found."""

    path: Path
    orders: list[dict[str, Any]] = field(repr=False)
    """Each order tried, as in results.json, in the sequence of the search."""
    updates: list[dict[str, float]] = field(repr=False)
    """The metrics of every update, with `trial` and `order`."""
    settings: dict[str, Any] = field(repr=False)
    posterior: dict[str, Any] | None = field(repr=False)
    """Mean and deviation for every order, if a Gaussian process was fitted."""
    names: Mapping[int, str]
    """Orders that have names of their own."""
    base_episodes: int = 0
    """Episodes of the base, which is trained on all orders before the first is tried."""
    base: RunHistory | None = None
    seconds: float = 0.0
    """How long it has searched."""
    run: RunHistory | None = None
    """What its folder says of it as of any run: when it began and was resumed."""

    @property
    def threshold(self) -> float:
        """The compliance from which an order's reward counts."""
        return float(self.settings["workflow"]["compliance_threshold"])

    def mean_by_place(self) -> tuple[Floats, Floats]:
        """Return the mean reward of the orders tried in which a unit has a place, NaN if none, and how many these are.

        Both are (units, places).
        """
        total, number = np.zeros((len(UNITS), len(UNITS))), np.zeros((len(UNITS), len(UNITS)))
        units = np.arange(len(UNITS))
        for tried in self.orders:
            total[units, PLACES[tried["order"]]] += tried["reward"]
            number[units, PLACES[tried["order"]]] += 1
        means = np.full_like(total, np.nan)
        np.divide(total, number, out=means, where=number > 0)
        return means, number


def order_text(order: int) -> str:
    """Return an order of the units, the most urgent first.

    >>> order_text(0)
    'defender → enterprise → op_server → op_host → user'
    """
    return " → ".join(UNITS[unit] for unit in ORDERS[order])
