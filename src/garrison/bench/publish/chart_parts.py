"""What the page's charts are made of: rows as points, bars and cells, with their intervals."""

from collections.abc import Mapping, Sequence

from garrison.bench.publish.stored import StoredRow, compared, estimated, is_steady, rate_alone, value
from garrison.report.page import Bars, Cell, Chart, Series, lines

Rows = Mapping[int, StoredRow]
"""Rows by a number: of environments, of workers, of threads."""


def speed(row: StoredRow) -> Cell:
    """Return a row's rate for a table."""
    return Cell(rate_alone(row), doubtful=not is_steady(row))


def points(name: str, rows: Rows) -> Series:
    """Return rates by number, with their intervals."""
    found = sorted(rows.items())
    spans = [estimated(row) for _, row in found]
    return Series(
        name,
        [n for n, _ in found],
        [value(row) for _, row in found],
        [span.low for span in spans],
        [span.high for span in spans],
        [not is_steady(row) for _, row in found],
        [f"{n}: {rate_alone(row)} steps/s" for n, row in found],
    )


def row_bars(name: str, rows: Sequence[StoredRow | None]) -> Bars:
    """Return rates as bars, with their intervals."""
    spans = [estimated(row) if row else None for row in rows]
    return Bars(
        name,
        [value(row) if row else None for row in rows],
        [span and span.low for span in spans],
        [span and span.high for span in spans],
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
    shares = [compared(rows[n], base, times) for n, (times, base) in ((n, ideal[n]) for n in sizes)]
    return Series(
        name,
        sizes,
        [one.value for one in shares],
        [one.low for one in shares],
        [one.high for one in shares],
        doubtful=[not one.is_narrow for one in shares],
        tips=[f"{n}: {one.share()}" for n, one in zip(sizes, shares, strict=True)],
    )
