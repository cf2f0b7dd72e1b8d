"""The rows of `limit.json`: what is known about the best return in each cell of the challenge.

A cell is (rules, red, length). `limit.json` is `{"machine", "method", "rows": [...]}`; a row is a plain dictionary:

    kind      one of `KINDS`: whose number it is
    rules, red, length    the cell
    value     the number: a mean return, or a bound on it
    margin    half the width of its 95 % confidence interval; 0.0 where nothing was sampled; None where it is not known
    proven    True only for a bound that holds for every defender
    seeds     how many independent runs (trainings) are behind it
    episodes  how many episodes, 0 where nothing was sampled
    seconds   what it took to make on one core: training, search or dynamic programming; 0.0 where it is not known
    what      in a few words: which agent, which method
    command   what makes it again

There is at most one row of each kind in a cell: `put` replaces. A kind of row is made by one function
`(Arguments, rules) -> Iterator[Row]` and its line in `MAKERS` of `garrison.bench.suites.limit_cells`.
"""

from collections.abc import Iterable, Iterator
from typing import Any

Row = dict[str, Any]
Cell = tuple[str, str, int]

KINDS: dict[str, str] = {
    "leaderboard": "leaderboard #1",
    "record": "our record",
    "belief": "with a belief",
    "search-1ms": "with search, 1 ms",
    "search": "with search, 10 ms",
    "search-50ms": "with search, 50 ms",
    "values": "belief and values",
    "ceiling": "empirical ceiling",
    "bound": "upper bound",
}
"""The kinds of rows, from the weakest defender to the bound that none can pass, and what tables call them."""

RULES = ("leaderboard", "head")
REDS = ("bline", "meander", "sleep")
LENGTHS = (30, 50, 100)
CELLS: tuple[Cell, ...] = tuple((rules, red, length) for rules in RULES for red in REDS for length in LENGTHS)


def make_row(
    kind: str,
    cell: Cell,
    value: float,
    margin: float | None,
    *,
    what: str,
    command: str,
    seeds: int = 1,
    episodes: int = 0,
    seconds: float = 0.0,
    proven: bool = False,
) -> Row:
    """Return one row; see the module for what the fields mean."""
    if kind not in KINDS or cell not in CELLS:
        raise ValueError(f"no kind {kind!r} in the cell {cell!r}: see KINDS and CELLS")
    if proven and kind != "bound":
        raise ValueError("what an agent scores proves nothing about others: only a bound is proven")
    return {
        "kind": kind,
        "rules": cell[0],
        "red": cell[1],
        "length": cell[2],
        "value": round(value, 6),
        "margin": None if margin is None else round(margin, 6),
        "proven": proven,
        "seeds": seeds,
        "episodes": episodes,
        "seconds": round(seconds, 1),
        "what": what,
        "command": command,
    }


def rows_of_evaluation(kind: str, evaluation: Any, *, what: str, command: str, seeds: int = 1) -> Iterator[Row]:
    """Return a row for each cell of a `garrison.challenge.evaluation.Evaluation`.

    `what` says which agent, and for a search its budget for each decision; `seeds` how many trainings are behind it.
    """
    for cell in evaluation.cells:
        yield make_row(
            kind,
            (evaluation.rules, cell.red, cell.length),
            cell.mean,
            1.96 * cell.stderr,
            what=what,
            command=command,
            seeds=seeds,
            episodes=evaluation.episodes,
            seconds=evaluation.seconds,
        )


def cell_of(row: Row) -> Cell:
    """Return a row's cell."""
    return row["rules"], row["red"], row["length"]


def find_row(rows: Iterable[Row], kind: str, cell: Cell) -> Row | None:
    """Return the row of this kind in this cell, if there is one."""
    return next((row for row in rows if row["kind"] == kind and cell_of(row) == cell), None)


def put(rows: list[Row], row: Row) -> None:
    """Add a row, in the place of an earlier one of its kind and cell."""
    rows[:] = [other for other in rows if (other["kind"], cell_of(other)) != (row["kind"], cell_of(row))]
    rows.append(row)
    order = list(KINDS)
    rows.sort(key=lambda one: (CELLS.index(cell_of(one)), order.index(one["kind"])))
