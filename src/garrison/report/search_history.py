"""A search of orders as plain values, as its results say it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from garrison.cage2.workflow import ORDERS, UNITS
from garrison.report.history import RunHistory


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

    @property
    def threshold(self) -> float:
        """The compliance from which an order's reward counts."""
        return float(self.settings["workflow"]["compliance_threshold"])


def order_text(order: int) -> str:
    """Return an order of the units, the most urgent first.

    >>> order_text(0)
    'defender → enterprise → op_server → op_host → user'
    """
    return " → ".join(UNITS[unit] for unit in ORDERS[order])
