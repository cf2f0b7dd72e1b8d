"""Tables of our backends beside each library: on synthetic environments, and on CartPole and Pendulum."""

from pathlib import Path

from garrison.bench.method.estimate import Estimate
from garrison.bench.method.labels import GARRISON, is_peer
from garrison.bench.publish.apart import Line, line, markdown_apart, table_apart, times_line
from garrison.bench.publish.markdown import source
from garrison.bench.publish.stored import (
    StoredResult,
    StoredRow,
    best,
    by,
    compared,
    find,
    load,
    measured,
    select,
)
from garrison.report.page import Page

CLASSIC = ("", "steps/s", "times EnvPool sync")


def each_peer_table(folder: Path) -> str:
    """Return our best backend over the best of each library, for every cost and number of environments."""
    result = load(folder, "vector-synthetic")
    header, lines = each_peer(result)
    return markdown_apart(
        header,
        lines,
        result,
        "Our quickest way of stepping over each library's quickest, in steps/s of the same run.",
        _chosen(measured(result)),
        source(result, "vector-synthetic"),
    )


def each_peer_page(page: Page, result: StoredResult) -> None:
    """Show our best backend over the best of each library."""
    page.text("Our quickest way of stepping over each library's quickest, round by round:")
    table_apart(page, *each_peer(result), result)


def each_peer(result: StoredResult) -> tuple[tuple[str, ...], list[Line]]:
    """Return a header with the libraries and a line for every cell."""
    rows = measured(result)
    libraries = _libraries(rows)
    lines = []
    for envs, cost in sorted(by(rows, "envs", "cost"), key=lambda cell: int(cell[0])):
        here = select(rows, envs=envs, cost=cost)
        top = best(select(here, who=GARRISON))
        theirs = [best(select(here, who=who)) for who in libraries]
        if top and any(theirs):
            ratios = [compared(top, row) if row else None for row in theirs]
            cells = [_written(ratio) for ratio in ratios]
            lines.append(line((f"{envs} x {cost}", *cells), *(ratio for ratio in ratios if ratio)))
    return ("cell", *libraries), lines


def classic_table(folder: Path) -> str:
    """Return CartPole and Pendulum: EnvPool, Gymnasium and ours."""
    result = load(folder, "vector-classic")
    return markdown_apart(
        CLASSIC,
        classic_lines(result),
        result,
        "EnvPool's are written in C++ and stepped by its threads; ours and Gymnasium's Sync are Gymnasium's Python",
        "environments, of which the limit is bare loops on every core; Gymnasium's own batch of CartPole is in NumPy.",
        source(result, "vector-classic"),
    )


def classic_page(page: Page, result: StoredResult) -> None:
    """Show CartPole and Pendulum."""
    page.text("EnvPool has these in C++. Ours are Gymnasium's, in Python, and cannot be quicker than their limit.")
    table_apart(page, CLASSIC, classic_lines(result), result)


def classic_lines(result: StoredResult) -> list[Line]:
    """Return a line for every row, beside EnvPool in step on the same environments, or their limit without it."""
    rows = measured(result)
    return [times_line(row, _classic_base(rows, row)) for row in rows]


def _classic_base(rows: list[StoredRow], row: StoredRow) -> StoredRow | None:
    place = {"env": row["labels"]["env"], "envs": row["labels"]["envs"]}
    return find(rows, who="EnvPool", backend="sync", **place)


def _libraries(rows: list[StoredRow]) -> list[str]:
    return list(dict.fromkeys(row["labels"]["who"] for row in rows if is_peer(row["labels"])))


def _written(ratio: Estimate | None) -> str:
    return ratio.times() if ratio else ""


def _chosen(rows: list[StoredRow]) -> str:
    """Say which of a library's ways are its quickest somewhere."""
    cells = by(rows, "envs", "cost")
    said = []
    for who in _libraries(rows):
        tops = [best(select(rows, who=who, envs=envs, cost=cost)) for envs, cost in cells]
        names = dict.fromkeys(str(top["labels"]["backend"]) for top in tops if top)
        said.append(f"{who} ({'; '.join(names)})")
    return f"Quickest somewhere: {', '.join(said)}."
