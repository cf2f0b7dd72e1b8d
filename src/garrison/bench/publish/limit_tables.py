"""How good a defender can be: the table in the docs, and the section of the page."""

import math
from pathlib import Path

from garrison.bench.method.limit_rows import CELLS, KINDS, RULES, Cell, Row, cell_of, find_row
from garrison.bench.publish.markdown import link, markdown
from garrison.bench.publish.stored import StoredResult, load
from garrison.formatting import short
from garrison.report.page import Bars, Page, bars

FAIR = ("record", "belief", "search-1ms", "search", "search-50ms", "values")
"""The kinds of our defenders that see only what the challenge shows."""
CHARTED = ("leaderboard", "record", "belief", "search", "values", "ceiling", "bound")
"""The kinds that are drawn: a chart has no more colours than that, and one search stands for all."""
TOTAL = "total"


def limit_table(folder: Path) -> str:
    """Return every cell with all kinds of rows and what is left between them, and below it where they come from."""
    result = load(folder, "limit")
    rows: list[Row] = result["rows"]
    cells = markdown(
        cell_header(rows),
        cell_lines(rows),
        "Means with 95 % confidence; the bound is a proof and has none. Left at most: from the best of our defenders,",
        "the lower end of its interval, to the bound. A total is the sum of the nine cells. Under `head` there is no",
        "leaderboard.",
        "`garrison bench limit --out benchmarks` makes the rows that are missing;",
        f"{link('limit')} has the command of each.",
        left=3,
    )
    origins = markdown(
        ("rules", "row", "what", "runs", "episodes a cell", "CPU"),
        origin_lines(rows),
        "Runs: independent trainings behind the row. CPU: seconds of one core for the longest of its parts.",
        left=3,
    )
    return f"{cells}\n\n{origins}"


def known_kinds(rows: list[Row]) -> dict[str, str]:
    """Return the kinds of which there are rows, and what tables call them."""
    return {kind: name for kind, name in KINDS.items() if any(row["kind"] == kind for row in rows)}


def cell_header(rows: list[Row]) -> tuple[str, ...]:
    """Return the header of `cell_lines`."""
    return ("rules", "red", "steps", *known_kinds(rows).values(), "left at most")


def cell_lines(rows: list[Row]) -> list[tuple[str, ...]]:
    """Return a line for each cell that can be lost, and the sums."""
    lines = []
    for rules in RULES:
        for cell in [c for c in CELLS if c[0] == rules and c[1] != "sleep"]:
            found = [find_row(rows, kind, cell) for kind in known_kinds(rows)]
            lines.append((rules, cell[1], str(cell[2]), *map(_number, found), _left(rows, [cell])))
        all_cells = [c for c in CELLS if c[0] == rules]
        sums = [_sum(rows, kind, all_cells) for kind in known_kinds(rows)]
        lines.append((rules, TOTAL, "", *("" if s is None else f"**{s:.2f}**" for s in sums), _left(rows, all_cells)))
    return lines


def origin_lines(rows: list[Row]) -> list[tuple[str, ...]]:
    """Return for each kind of row and attacker where it comes from, rows that share everything in one line."""
    lines: dict[tuple[str, ...], Row] = {}
    for rules in RULES:
        for kind, name in KINDS.items():
            for row in rows:
                if row["kind"] == kind and row["rules"] == rules and row["red"] != "sleep":
                    red = f", {row['red']}" if kind == "bound" else ""
                    what = row["what"].replace("|", "/")
                    known = lines.setdefault((rules, name + red, what), row)
                    if row["seconds"] > known["seconds"]:
                        lines[rules, name + red, what] = row
    return [(*key, str(row["seeds"]), *_efforts(row)) for key, row in lines.items()]


def _efforts(row: Row) -> tuple[str, str]:
    return short(row["episodes"]) if row["episodes"] else "", f"{row['seconds']:.0f} s" if row["seconds"] else ""


def _number(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{row['value']:.2f} ± {row['margin']:.2f}" if row["margin"] else f"{row['value']:.2f}"


def _sum(rows: list[Row], kind: str, cells: list[Cell]) -> float | None:
    found = [find_row(rows, kind, cell) for cell in cells]
    return None if any(row is None for row in found) else sum(row["value"] for row in found if row is not None)


def _left(rows: list[Row], cells: list[Cell]) -> str:
    """Write how much better than ours a defender could be at most, where both sides are known.

    Ours is what the best of our defenders has for sure: a row of few episodes is not better for being less known.
    """
    ours = [low for low in (_low(rows, kind, cells) for kind in FAIR) if low is not None]
    bound = _sum(rows, "bound", cells)
    return f"{bound - max(ours):.2f}" if ours and bound is not None else ""


def _low(rows: list[Row], kind: str, cells: list[Cell]) -> float | None:
    """Return the lower end of the interval of a sum of cells."""
    total = _sum(rows, kind, cells)
    margins = [row["margin"] or 0.0 for row in rows if row["kind"] == kind and cell_of(row) in cells]
    return None if total is None else total - math.hypot(*margins)


def limit_cells(page: Page, result: StoredResult) -> None:
    """Show all kinds of rows of every cell as costs, and the table."""
    rows: list[Row] = result["rows"]
    for rules in RULES:
        cells = [c for c in CELLS if c[0] == rules and c[1] != "sleep"]
        if not any(row["rules"] == rules and row["red"] != "sleep" for row in rows):
            continue
        found = [
            Bars(name, [None if (row := find_row(rows, kind, cell)) is None else -row["value"] for cell in cells])
            for kind, name in known_kinds(rows).items()
            if kind in CHARTED
        ]
        names = [f"{red} {length}" for _, red, length in cells]
        title = f"What an episode costs, rules {rules}: no defender can pay less than the bound"
        page.chart(bars(names, found, y_label="mean cost of an episode"), title)
    page.table(cell_header(rows), [[text.strip("*") for text in line] for line in cell_lines(rows)])
    page.table(["rules", "row", "what", "runs", "episodes", "CPU"], origin_lines(rows), folded="where they come from")
