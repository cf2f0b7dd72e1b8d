"""How the users' figures and ours are written beside each other, on the terminal, the page and in the docs."""

from collections.abc import Iterable, Sequence
from typing import Any

from garrison.bench.method.estimate import Estimate
from garrison.bench.publish.apart import Line
from garrison.formatting import ratio

UserRow = dict[str, Any]
"""One entry of `tables` in users.json."""
HEADER = ("their table", "", "theirs, steps/s", "ours, the same way", "times", "ours, native", "times")


def known(tables: Iterable[UserRow]) -> list[UserRow]:
    """Return the figures beside which there is one of ours."""
    return [row for row in tables if row["same_way"] or row["native"]]


def beside(rows: Sequence[UserRow]) -> list[Line]:
    """Return the columns of `HEADER`."""
    lines = []
    for row in rows:
        found = [row[which] for which in ("same_way", "native") if row[which]]
        is_wide = not all(one["steady"] and "rounds" in one for one in found)
        cells = (row["table"], row["what"], theirs(row), *ours(row, "same_way"), *ours(row))
        lines.append(Line(cells, is_wide, min(_estimate(one).rounds for one in found)))
    return lines


def theirs(row: UserRow) -> str:
    """Write a figure of theirs, or its range."""
    low, high = (f"{x:.2g}" if row["is_ratio"] else f"{x:,.0f}" for x in row["theirs"])
    return low if low == high else f"{low} to {high}"


def ours(row: UserRow, which: str = "native") -> tuple[str, str]:
    """Write a figure of ours with its interval, and how many times theirs it is."""
    if row[which] is None:
        return "", ""
    found = _estimate(row[which])
    times = found.value / (sum(row["theirs"]) / 2)  # as sure as the figure: theirs have no interval
    return found.times() if row["is_ratio"] else found.text(), ratio(times)


def _estimate(figure: dict[str, Any]) -> Estimate:
    """Return a figure of ours; files of older versions kept no interval."""
    low, high = figure.get("low", figure["value"]), figure.get("high", figure["value"])
    return Estimate(figure["value"], low, high, figure.get("rounds", 0))
