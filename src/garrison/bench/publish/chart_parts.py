"""What the page's charts are made of: rows as points, bars and cells, with the range of their repeats."""

from collections.abc import Mapping, Sequence

from garrison.bench.publish.stored import StoredRow, bounds, is_steady, rate, share, value
from garrison.report.page import Bars, Cell, Chart, Series, lines

Rows = Mapping[int, StoredRow]
"""Rows by a number: of environments, of workers, of threads."""


def speed(row: StoredRow) -> Cell:
    """Return a row's rate for a table."""
    return Cell(rate(row), doubtful=not is_steady(row))


def points(name: str, rows: Rows) -> Series:
    """Return rates by number, with the range of their repeats."""
    found = sorted(rows.items())
    low, high = zip(*(bounds(row) for _, row in found), strict=True) if found else ((), ())
    return Series(
        name,
        [n for n, _ in found],
        [value(row) for _, row in found],
        low,
        high,
        [not is_steady(row) for _, row in found],
        [f"{n}: {rate(row)} steps/s" for n, row in found],
    )


def row_bars(name: str, rows: Sequence[StoredRow | None]) -> Bars:
    """Return rates as bars, with the range of their repeats."""
    spans = [bounds(row) if row else (None, None) for row in rows]
    return Bars(
        name,
        [value(row) if row else None for row in rows],
        [low for low, _ in spans],
        [high for _, high in spans],
        [row is not None and not is_steady(row) for row in rows],
    )


def quantities(ways: Mapping[str, Rows], key: str, label: str) -> Chart:
    """Return one of the rows' other numbers (`start_seconds`, `share_mb`) by number of environments."""
    series = [Series(way, sorted(rows), [rows[n][key] for n in sorted(rows)]) for way, rows in ways.items()]
    values = [y for one in series for y in one.y if y]
    far_apart = bool(values) and max(values) > 10 * min(values)
    return lines(series, x_label="environments", y_label=label, log_x=True, log_y=far_apart, zero=True)


def efficiency(name: str, rows: Rows, ideal: Mapping[int, tuple[int, StoredRow]]) -> Series:
    """Return rates as a share of the ideal: this many times that row."""
    sizes = [n for n in sorted(rows) if n in ideal]
    return Series(
        name,
        sizes,
        [value(rows[n]) / (times * value(base)) for n, (times, base) in ((n, ideal[n]) for n in sizes)],
        doubtful=[not (is_steady(rows[n]) and is_steady(ideal[n][1])) for n in sizes],
        tips=[f"{n}: {share(rows[n], ideal[n][1], ideal[n][0])}" for n in sizes],
    )
