"""Stored results: reading them, finding a row by its labels, and writing what a row is worth."""

import json
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from garrison.bench.method.estimate import Estimate, estimate
from garrison.bench.method.labels import Labels, name_of
from garrison.bench.method.paired import RoundRates, compare
from garrison.errors import UserError
from garrison.formatting import duration

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
    """Return a row's steps per second."""
    return float(row["steps_per_second"])


def best(rows: Iterable[StoredRow]) -> StoredRow | None:
    """Return the quickest row: where all have the same partner by their ratio to it, since their minutes differ."""
    rows = list(rows)
    is_paired = all(row.get("ratio") and row["partner"] == rows[0]["partner"] for row in rows)
    return max(rows, key=(lambda row: float(row["ratio"])) if is_paired else value, default=None)


def facts(row: StoredRow) -> dict[str, float]:
    """Return the medians of what the workload itself reported."""
    told = [sample["facts"] for sample in row["samples"]]
    return {name: statistics.median(some[name] for some in told) for name in told[0]}


def estimated(row: StoredRow) -> Estimate:
    """Return a row's steps per second with their interval: made from its rounds, which old files have as well."""
    return estimate(rates(row))


def compared(row: StoredRow, base: StoredRow, times_base: float = 1.0) -> Estimate:
    """Return how many times some times `base` a row is, round by round."""
    found = compare(_round_rates(row), _round_rates(base))
    return found.scaled(1 / times_base) if found else Estimate(0.0, 0.0, 0.0, 0)


def is_steady(row: StoredRow) -> bool:
    """Return whether a row was measured until it could be quoted; in files that name no partners, by its own rate."""
    return bool(row["steady"]) if "partner" in row else estimated(row).is_narrow


def rate(row: StoredRow) -> str:
    """Write a row's steps per second with their interval, for a table that has unsteady rows apart."""
    return estimated(row).text()


def rate_alone(row: StoredRow) -> str:
    """Write a row's steps per second for a sentence, which has to say where there is no interval."""
    return estimated(row).text() + estimated(row).caveat


def step_time(row: StoredRow) -> str:
    """Write how long a step takes, for a sentence."""
    found = estimated(row)
    return found.inverse().text(duration) + found.caveat


def over(row: StoredRow, base: StoredRow) -> str:
    """Write how many times `base` a row is, for a sentence."""
    found = compared(row, base)
    return found.times() + found.caveat


def share(row: StoredRow, base: StoredRow) -> str:
    """Write a row as a share of `base`, for a sentence."""
    found = compared(row, base)
    return found.share() + found.caveat


def rates(row: StoredRow) -> list[float]:
    """Return a row's steps per second in each round."""
    return [sample["steps"] / sample["wall_seconds"] for sample in row["samples"]]


def _round_rates(row: StoredRow) -> RoundRates:
    beside = [sample.get("beside", 0.0) for sample in row["samples"]]  # old files have rounds without turns
    return RoundRates(row["labels"], row.get("partner"), rates(row), beside)


def is_quick(result: StoredResult) -> bool:
    """Return whether a result was only a quick look."""
    return "--quick" in result.get("method", {}).get("command", "").split()
