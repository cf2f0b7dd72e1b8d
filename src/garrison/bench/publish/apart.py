"""Tables in two parts: what can be quoted, and apart from it what stayed wide, with the reason.

A line says which numbers it rests on; it can be quoted when all of them are narrow.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from garrison.bench.method.estimate import Estimate
from garrison.bench.method.terminal import print_table
from garrison.bench.method.why_wide import TITLE, why_wide
from garrison.bench.publish.markdown import markdown
from garrison.bench.publish.stored import StoredResult, StoredRow, compared, is_steady, rate, short_name
from garrison.report.page import Page


class Line(NamedTuple):
    """A line of a table."""

    cells: tuple[str, ...]
    is_wide: bool
    rounds: int


def line(cells: Sequence[str], *numbers: Estimate) -> Line:
    """Return a line that rests on these numbers."""
    rounds = min((number.rounds for number in numbers), default=0)
    return Line(tuple(cells), any(not number.is_narrow for number in numbers), rounds)


def row_line(cells: Sequence[str], row: StoredRow) -> Line:
    """Return a line that rests on a row, and on what the row itself is compared with."""
    return Line(tuple(cells), not is_steady(row), len(row["samples"]))


def times_line(row: StoredRow, base: StoredRow | None, *more: str) -> Line:
    """Return a row's name, its rate, more cells, and how many times the base it is."""
    cells = (short_name(row), rate(row), *more)
    if base is None or base is row:  # then nothing but the row itself can be wide
        return row_line((*cells, "" if base is None else "1"), row)
    times = compared(row, base)
    return line((*cells, times.times()), times)


class Parts(NamedTuple):
    """A table in two parts."""

    quoted: list[tuple[str, ...]]
    title: str
    """What stands above the second part."""
    header: tuple[str, ...]
    """That of the second part: with a column for the reasons, unless the title has the one that all have in common."""
    wide: list[tuple[str, ...]]


def divide(header: Sequence[str], lines: Iterable[Line], result: StoredResult) -> Parts:
    """Return the lines that can be quoted, and those that cannot."""
    lines = list(lines)
    apart = [(each.cells, why_wide(result["method"], each.rounds)) for each in lines if each.is_wide]
    reasons = {why for _, why in apart}
    quoted = [each.cells for each in lines if not each.is_wide]
    title = f"{TITLE.capitalize()}, so not to be quoted"
    if len(reasons) == 1:
        return Parts(quoted, f"{title} ({reasons.pop()})", tuple(header), [cells for cells, _ in apart])
    return Parts(quoted, title, (*header, "why"), [(*cells, why) for cells, why in apart])


def markdown_apart(
    header: Sequence[str], lines: Iterable[Line], result: StoredResult, *text: str, left: int = 1
) -> str:
    """Return the lines as a table for a document, those that stayed wide as a second one, and sentences below."""
    parts = divide(header, lines, result)
    first = [markdown(header, parts.quoted, left=left)] if parts.quoted or not parts.wide else []
    second = [f"{parts.title}:", markdown(parts.header, parts.wide, left=left)] if parts.wide else []
    return "\n\n".join([*first, *second, " ".join(text)])


def table_apart(page: Page, header: Sequence[str], lines: Iterable[Line], result: StoredResult) -> None:
    """Show the lines as a table, and those that stayed wide as a second one."""
    parts = divide(header, lines, result)
    if parts.quoted:
        page.table(header, parts.quoted)
    if parts.wide:
        page.table(parts.header, parts.wide, caption=parts.title)


def print_apart(title: str, header: Sequence[str], lines: Iterable[Line], result: StoredResult, left: int = 1) -> None:
    """Print the lines as a table, and those that stayed wide as a second one; the first `left` columns are text."""
    parts = divide(header, lines, result)
    if parts.quoted:
        print_table(title, header, parts.quoted, text=header[:left])
    if parts.wide:
        print(f"{parts.title}:")
        print_table(title, parts.header, parts.wide, text=(*header[:left], "why"))
