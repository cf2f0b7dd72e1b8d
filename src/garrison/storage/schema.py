"""What nested values from a file must be like, as a table: `a.b.c: kind`, checked before anything is used."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

HIGHEST = 2**53  # of a count: beyond it a float no longer counts by one
SHOWN = 60  # characters of a wrong value


@dataclass(frozen=True)
class Kind:
    """What a place may hold: in words, and as a test."""

    words: str
    holds: Callable[[Any], bool]


def is_plain(value: Any) -> bool:
    """Return whether a value is plain, as JSON knows it, with everything in it."""
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    if isinstance(value, list):
        return all(map(is_plain, value))
    return value is None or isinstance(value, bool | int | float | str)


def is_count(value: Any) -> bool:
    """Return whether a value is a whole number from 0 that a float can hold."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < HIGHEST


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number that can be calculated with."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300  # not for NaN either


TEXT = Kind("text", lambda value: isinstance(value, str))
COUNT = Kind("a whole number from 0", is_count)
NUMBER = Kind("a number", is_number)
SECONDS = Kind("a number of seconds", lambda value: is_number(value) and value >= 0)
MAPPING = Kind("a mapping", lambda value: isinstance(value, dict))
SETTINGS = Kind("a mapping of plain values", lambda value: isinstance(value, dict) and is_plain(value))
NUMBERS = Kind("a list of numbers", lambda value: isinstance(value, list) and all(map(is_number, value)))
COUNTS = Kind("a list of whole numbers", lambda value: isinstance(value, list) and all(map(is_count, value)))


def each(kind: Kind) -> Kind:
    """Return the kind of a mapping whose values are all of one kind."""
    return Kind(
        f"a mapping, each to {kind.words}",
        lambda value: isinstance(value, dict) and all(map(kind.holds, value.values())),
    )


def optional(kind: Kind) -> Kind:
    """Return the kind of a value that may also be missing, as None."""
    return Kind(kind.words, lambda value: value is None or kind.holds(value))


class Missing(Exception):
    """A place that must be there is not."""


class Wrong(Exception):
    """A place holds what it must not; says what it must be and what it is."""


def check(values: Any, table: dict[str, Kind]) -> None:
    """Raise Missing or Wrong at the first place of a table, `a.b.c: kind`, that nested values do not satisfy."""
    for path, kind in table.items():
        value = values
        for key in path.split("."):
            if not isinstance(value, dict) or key not in value:
                raise Missing(path)
            value = value[key]
        if not kind.holds(value):
            raise Wrong(f"its {path} must be {kind.words}; it is {shown(value)}")


def present(values: dict[str, Any], table: dict[str, Kind]) -> dict[str, Kind]:
    """Return the part of a table whose places are there."""
    found = {}
    for path, kind in table.items():
        value: Any = values
        for key in path.split("."):
            value = value.get(key, None) if isinstance(value, dict) else None
        if value is not None:
            found[path] = kind
    return found


def shown(value: Any) -> str:
    """Return a wrong value for a message, however large it is."""
    if isinstance(value, np.ndarray):
        odd = value.dtype.kind == "f" and not np.isfinite(value).all()
        return f"an array of {value.dtype.name}, {value.shape}{' with numbers that are not finite' if odd else ''}"
    if isinstance(value, dict | list):
        return f"a {'mapping' if isinstance(value, dict) else 'list'} of {len(value)}"
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**SHOWN else "a huge number"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
