"""Measured results as they stand in a folder: writing them, finding them, and saying what one row is worth."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from garrison.bench.measure import STEADY, Report
from garrison.errors import UserError
from garrison.text import ratio, short

Result = dict[str, Any]
Row = dict[str, Any]


def keep(report: Report, out: Path | None, name: str, extra: Result | None = None) -> None:
    """Write `name`.json into the folder, make its page anew and say so; without a folder, do nothing."""
    if out is not None:
        report.save(out / f"{name}.json", extra)
        announce(out, name)


def announce(out: Path, name: str) -> None:
    """Make the folder's page anew and say what was written."""
    from garrison.bench.page import write

    print(f"wrote {out / name}.json and {write(out)}")


def load(folder: Path, name: str) -> Result:
    """Read one result."""
    file = folder / f"{name}.json"
    try:
        result: Result = json.loads(file.read_text())
    except FileNotFoundError:
        raise UserError(f"{file} does not exist: measure it with garrison bench, and --out {folder}.") from None
    except ValueError as error:
        raise UserError(f"{file} is not a result of garrison bench: {error}.") from None
    if not isinstance(result, dict) or "machine" not in result:
        raise UserError(f"{file} is not a result of garrison bench: it names no machine.")
    return result


def names(folder: Path) -> list[str]:
    """Return the names of the results in a folder."""
    return sorted(file.stem for file in folder.glob("*.json"))


def measured(result: Result) -> dict[str, Row]:
    """Return the rows that have a number, by name."""
    return {row["name"]: row for row in result.get("results", ()) if row["error"] is None and row["samples"]}


def cells(result: Result) -> Iterator[tuple[str, int, str, Row]]:
    """Yield (way, number of environments, what, row) of results that are named "way | number | what"."""
    for name, row in measured(result).items():
        way, size, what = name.split(" | ")
        yield way, int(size), what, row


def is_steady(row: Row) -> bool:
    """Say whether the row's median may stand alone."""
    return row["spread"] is not None and row["spread"] <= STEADY


def bounds(row: Row) -> tuple[float, float]:
    """Return the slowest and the quickest repeat, in steps a second."""
    rates = [sample["steps"] / sample["wall_seconds"] for sample in row["samples"]]
    return min(rates), max(rates)


def rate(row: Row) -> str:
    """Write a row's median with its spread, and its range instead where the spread is too wide for one number."""
    if is_steady(row):
        return f"{short(row['steps_per_second'])} ± {row['spread'] / 2:.0%}"
    low, high = bounds(row)
    return f"{short(low)} to {short(high)}" if len(row["samples"]) > 1 else brief(row)


def brief(row: Row) -> str:
    """Write a row's median for a narrow table, with ~ before it where the spread forbids to quote it."""
    return f"{'' if is_steady(row) else '~'}{short(row['steps_per_second'])}"


def over(row: Row, base: Row) -> str:
    """Write how many times `base` a row is, with ~ before it unless both are steady."""
    mark = "" if is_steady(row) and is_steady(base) else "~"
    return mark + ratio(row["steps_per_second"] / base["steps_per_second"])


def share(row: Row, base: Row, times_base: float = 1.0) -> str:
    """Write a row as a share of some times `base`, with ~ before it unless both are steady."""
    mark = "" if is_steady(row) and is_steady(base) else "~"
    return f"{mark}{row['steps_per_second'] / (times_base * base['steps_per_second']):.0%}"


def is_quick(result: Result) -> bool:
    """Say whether a result was only a quick look."""
    return "--quick" in result.get("method", {}).get("command", "").split()
