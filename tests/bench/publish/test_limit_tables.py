"""The table of what defenders score and what none can pass."""

from garrison.bench.method.limit_rows import Row, make_row
from garrison.bench.publish.limit_tables import cell_header, cell_lines

LOW, HIGH = ("head", "bline", 30), ("head", "bline", 50)


def _row(kind: str, cell: tuple[str, str, int], value: float, margin: float) -> Row:
    return make_row(kind, cell, value, margin, what="", command="", proven=kind == "bound")


def test_what_is_left_counts_from_what_is_known_for_sure() -> None:
    """Three episodes with luck do not bring a defender nearer to the bound than ten thousand without."""
    rows = [_row("record", LOW, -4.0, 0.1), _row("search", LOW, -3.5, 1.0), _row("bound", LOW, -3.0, 0.0)]
    rows += [_row("record", HIGH, -7.0, 0.5), _row("search", HIGH, -6.0, 0.2), _row("bound", HIGH, -5.0, 0.0)]
    left = {(line[1], line[2]): line[-1] for line in cell_lines(rows)}
    assert cell_header(rows)[-1] == "left at most"
    assert left["bline", "30"] == "1.10"
    assert left["bline", "50"] == "1.20"
    assert left["meander", "30"] == ""
