"""Which row is compared with which, and which therefore take turns."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from garrison.bench.method.fresh import Configuration
from garrison.bench.method.labels import Labels
from garrison.bench.method.measurement import Measurement

GUESTS = 4
"""How many rows at most are alive beside the one that they are compared with: some have hundreds of processes."""


def pair(rows: Iterable[Configuration], candidates: Callable[[Labels], Sequence[Labels]]) -> list[Configuration]:
    """Return the rows with their partners: the first of a row's candidates that is among the rows.

    A row that is its own first candidate has none: others are compared with it.
    """
    rows = list(rows)
    every = [row.labels for row in rows]
    found = (next((c for c in candidates(row.labels) if c in every), None) for row in rows)
    return [replace(row, partner=None if c == row.labels else c) for row, c in zip(rows, found, strict=True)]


def host_of(rows: Sequence[Measurement], k: int) -> int:
    """Return the row that row `k` takes turns with: its partner, or itself if it has none or that one has failed."""
    partner = rows[k].configuration.partner
    if partner is None:
        return k
    found = next((i for i, row in enumerate(rows) if row.labels == partner), None)
    if found is None:
        raise ValueError(f"no row has the labels {partner} of a partner")
    return k if rows[found].error else found


def heats(rows: Sequence[Measurement], going: Sequence[int]) -> list[list[int]]:
    """Return which rows take turns: first one that others are compared with, then at most `GUESTS` of these."""
    guests: dict[int, list[int]] = {}
    for k in going:
        host = host_of(rows, k)
        guests.setdefault(host, [])
        if host != k:
            guests[host].append(k)
    return [[host, *each[k : k + GUESTS]] for host, each in guests.items() for k in range(0, max(1, len(each)), GUESTS)]
