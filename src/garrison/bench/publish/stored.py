"""Stored results: reading them, finding a row by its labels, and writing what a row is worth."""

import json
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from garrison.bench.method.labels import Labels, name_of
from garrison.bench.method.measure import STEADY
from garrison.errors import UserError
from garrison.formatting import ratio, short

StoredResult = dict[str, Any]
StoredRow = dict[str, Any]


def load(folder: Path, name: str) -> StoredResult:
    """Read one result."""
    file = folder / f"{name}.json"
    try:
        result: StoredResult = json.loads(file.read_text())
    except FileNotFoundError:
        raise UserError(
            f"{file} does not exist.", hint=f"Measure it with garrison bench, and --out {folder}."
        ) from None
    except ValueError as error:
        raise UserError(f"{file} is not a result of garrison bench: {error}.") from None
    if not isinstance(result, dict) or "machine" not in result:
        raise UserError(f"{file} is not a result of garrison bench: it names no machine.")
    if any("labels" not in row for row in result.get("results", ())):
        raise UserError(f"{file} was made by an older version: its rows have no labels.", hint="Measure it again.")
    return result


def names(folder: Path) -> list[str]:
    """Return the names of the results in a folder."""
    return sorted(file.stem for file in folder.glob("*.json"))


def measured(result: StoredResult) -> list[StoredRow]:
    """Return the rows that have a number."""
    return [row for row in result.get("results", ()) if row["error"] is None and row["samples"]]


def select(rows: Iterable[StoredRow], **labels: Any) -> list[StoredRow]:
    """Return the rows that have all of these labels, whatever other labels they have; None is "no such label"."""
    return [row for row in rows if all(row["labels"].get(key) == value for key, value in labels.items())]


def find(rows: Iterable[StoredRow], **labels: Any) -> StoredRow | None:
    """Return the row with exactly these labels."""
    return next((row for row in rows if row["labels"] == labels), None)


def need(rows: Iterable[StoredRow], **labels: Any) -> StoredRow:
    """Return the row with exactly these labels, which a text cannot do without."""
    row = find(rows, **labels)
    if row is None:
        raise UserError(f"there is no measured row {name_of(labels)!r}.", hint="Measure the suite again, in full.")
    return row


def by(rows: Iterable[StoredRow], *keys: str) -> dict[Any, StoredRow]:
    """Return rows by the value of one label, or by the values of several."""
    found = ((tuple(row["labels"].get(key) for key in keys), row) for row in rows)
    return {values[0] if len(keys) == 1 else values: row for values, row in found}


def groups(rows: Iterable[StoredRow], *keys: str) -> dict[str, list[StoredRow]]:
    """Return rows by the name that these labels give them, in the order in which they first appear."""
    found: dict[str, list[StoredRow]] = {}
    for row in rows:
        found.setdefault(short_name(row, *keys), []).append(row)
    return found


def short_name(row: StoredRow, *keys: str) -> str:
    """Return the name that some of its labels give a row, all of them by default."""
    labels: Labels = row["labels"]
    return name_of({key: value for key, value in labels.items() if not keys or key in keys})


def value(row: StoredRow) -> float:
    """Return a row's median, in steps per second."""
    return float(row["steps_per_second"])


def best(rows: Iterable[StoredRow]) -> StoredRow | None:
    """Return the quickest row."""
    return max(rows, key=value, default=None)


def facts(row: StoredRow) -> dict[str, float]:
    """Return the medians of what the workload itself reported."""
    told = [sample["facts"] for sample in row["samples"]]
    return {name: statistics.median(some[name] for some in told) for name in told[0]}


def is_steady(row: StoredRow) -> bool:
    """Return whether the row's median may stand alone."""
    return row["spread"] is not None and row["spread"] <= STEADY


def bounds(row: StoredRow) -> tuple[float, float]:
    """Return the slowest and the quickest repeat, in steps per second."""
    rates = [sample["steps"] / sample["wall_seconds"] for sample in row["samples"]]
    return min(rates), max(rates)


def rate(row: StoredRow) -> str:
    """Write a row's median with its spread, and its range instead where the spread is too wide for one number."""
    if is_steady(row):
        return f"{short(value(row))} ± {row['spread'] / 2:.0%}"
    low, high = bounds(row)
    return f"{short(low)} to {short(high)}" if len(row["samples"]) > 1 else brief(row)


def mark(*rows: StoredRow) -> str:
    """Return ~ unless all rows are steady."""
    return "" if all(map(is_steady, rows)) else "~"


def brief(row: StoredRow) -> str:
    """Write a row's median for a narrow table, with ~ before it where the spread is too wide to quote it."""
    return mark(row) + short(value(row))


def over(row: StoredRow, base: StoredRow) -> str:
    """Write how many times `base` a row is, with ~ before it unless both are steady."""
    return mark(row, base) + ratio(value(row) / value(base))


def share(row: StoredRow, base: StoredRow, times_base: float = 1.0) -> str:
    """Write a row as a share of some times `base`, with ~ before it unless both are steady."""
    return f"{mark(row, base)}{value(row) / (times_base * value(base)):.0%}"


def is_quick(result: StoredResult) -> bool:
    """Return whether a result was only a quick look."""
    return "--quick" in result.get("method", {}).get("command", "").split()
