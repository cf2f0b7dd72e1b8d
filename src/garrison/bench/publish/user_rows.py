"""How the users' figures and ours are written beside each other, on the terminal, the page and in the docs."""

from collections.abc import Iterable, Sequence
from typing import Any

from garrison.formatting import ratio, short

UserRow = dict[str, Any]
"""One entry of `tables` in users.json."""
HEADER = ("their table", "", "theirs, steps/s", "ours, the same way", "times", "ours, native", "times")


def known(tables: Iterable[UserRow]) -> list[UserRow]:
    """Return the figures beside which there is one of ours."""
    return [row for row in tables if row["same_way"] or row["native"]]


def beside(rows: Sequence[UserRow]) -> list[tuple[str, ...]]:
    """Return the columns of `HEADER`; a table is named in its first row only."""
    tables = ["", *(row["table"] for row in rows)]
    return [
        ("" if row["table"] == before else row["table"], row["what"], theirs(row), *ours(row, "same_way"), *ours(row))
        for row, before in zip(rows, tables, strict=False)
    ]


def theirs(row: UserRow) -> str:
    """Write a figure of theirs, or its range."""
    low, high = (f"{x:.2g}" if row["is_ratio"] else f"{x:,.0f}" for x in row["theirs"])
    return low if low == high else f"{low} to {high}"


def ours(row: UserRow, which: str = "native") -> tuple[str, str]:
    """Write a figure of ours and how many times theirs it is, with ~ where the spread is too wide to quote it."""
    if row[which] is None:
        return "", ""
    value, mark = row[which]["value"], "" if row[which]["steady"] else "~"
    times = value / (sum(row["theirs"]) / 2)
    written = f"{value:.2g}" if row["is_ratio"] else short(value)
    return mark + written, mark + ratio(times)
