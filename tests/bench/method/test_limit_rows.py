"""Rows of `limit.json`: one of each kind in a cell, in the order of the table."""

import pytest

from garrison.bench.method.limit_rows import Row, find_row, make_row, put

CELL = ("head", "bline", 30)


def row(kind: str, value: float, proven: bool = False) -> Row:
    return make_row(kind, CELL, value, 0.1, what="a test", command="none", proven=proven)


def test_a_second_row_of_its_kind_takes_the_place_of_the_first() -> None:
    rows: list[Row] = []
    for one in (row("bound", -1.0, True), row("record", -3.0), row("record", -2.0)):
        put(rows, one)
    assert [(one["kind"], one["value"]) for one in rows] == [("record", -2.0), ("bound", -1.0)]
    assert find_row(rows, "record", CELL) == rows[0]
    assert find_row(rows, "search", CELL) is None


def test_what_an_agent_scores_is_never_called_proven() -> None:
    with pytest.raises(ValueError, match="only a bound is proven"):
        row("ceiling", -1.0, proven=True)
    with pytest.raises(ValueError, match="no kind 'best'"):
        row("best", -1.0)
