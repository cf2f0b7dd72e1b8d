"""Which row is compared with which, and which therefore have to be measured in the same rounds."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from garrison.bench.method.fresh import Configuration
from garrison.bench.method.labels import Labels


def pair(rows: Iterable[Configuration], candidates: Callable[[Labels], Sequence[Labels]]) -> list[Configuration]:
    """Return the rows with their partners: the first of a row's candidates that is among the rows.

    A row that is its own first candidate has none: others are compared with it.
    """
    rows = list(rows)
    every = [row.labels for row in rows]
    found = (next((c for c in candidates(row.labels) if c in every), None) for row in rows)
    return [replace(row, partner=None if c == row.labels else c) for row, c in zip(rows, found, strict=True)]


def circles(rows: Sequence[Configuration]) -> list[list[int]]:
    """Return the indices of the rows in circles: rows that are linked by partners, directly or through others."""
    circle_of = list(range(len(rows)))
    for k, row in enumerate(rows):
        if row.partner is not None:
            here, there = circle_of[k], circle_of[index_of(rows, row.partner)]
            circle_of = [here if circle == there else circle for circle in circle_of]
    return [[k for k, circle in enumerate(circle_of) if circle == one] for one in dict.fromkeys(circle_of)]


def index_of(rows: Sequence[Configuration], labels: Labels) -> int:
    """Return where the row with these labels is."""
    for k, row in enumerate(rows):
        if row.labels == labels:
            return k
    raise ValueError(f"no row has the labels {labels} of a partner")
