"""Wrong contents for files: one place of nested values is removed, replaced or bent, as a seed says."""

import copy
from random import Random
from typing import Any

import numpy as np

Path = tuple[str | int, ...]

WILD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**31,
    2**70,
    1.5,
    -1e300,
    float("nan"),
    float("inf"),
    "",
    "other",
    "9" * 50,
    [],
    [1, "two", None],
    {},
    {"other": [1]},
)


def places(value: Any, path: Path = ()) -> list[Path]:
    """Return the path to every value within nested mappings and lists, arrays included."""
    inside: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inside = list(value.items())
    elif isinstance(value, list):
        inside = list(enumerate(value))
    return [(*path,)] * bool(path) + [found for key, item in inside for found in places(item, (*path, key))]


def mutated(values: dict[str, Any], random: Random, spared: tuple[Path, ...] = ()) -> tuple[str, dict[str, Any]]:
    """Return a copy with one wrong place, and what was done; the numbers within arrays at `spared` stay."""
    path = random.choice(places(values))
    changed = copy.deepcopy(values)
    at = changed
    for key in path[:-1]:
        at = at[key]
    old = at[path[-1]]
    if random.random() < 0.3:
        del at[path[-1]]
        return f"{path}: removed", changed
    if isinstance(old, np.ndarray) and random.random() < 0.8:
        what, new = bent(old, random, keep_numbers=path in spared)
        at[path[-1]] = new
        return f"{path}: {what}", changed
    new = random.choice(WILD)
    at[path[-1]] = new
    return f"{path}: {new!r}", changed


def bent(array: np.ndarray[Any, Any], random: Random, keep_numbers: bool = False) -> tuple[str, Any]:
    """Return an array of another type, shape or content, and what was done."""
    how = random.choice(("type", "empty", "shorter", "longer", "axis", *(() if keep_numbers else ("number",))))
    if how == "type" and array.dtype.kind in "SU":
        return how, np.zeros(array.shape)
    if how == "type":
        with np.errstate(invalid="ignore"):
            return how, array.astype(random.choice([np.float64, np.int8, np.bool_]))
    if how == "empty":
        return how, array[:0] if array.ndim else np.zeros(0, array.dtype)
    if how == "shorter":
        return how, array.reshape(-1)[:-1]
    if how == "longer":
        return how, np.concatenate([array.reshape(-1)] * 2)
    if how == "axis":
        return how, array[None]
    changed = array.copy()
    if changed.size:
        wild: tuple[Any, ...] = (np.iinfo(np.int8).max, 0)
        wild = {"f": (np.nan, np.inf, 3e38, -1e30), "U": ("", "{", "other")}.get(changed.dtype.kind, wild)
        changed.reshape(-1)[random.randrange(changed.size)] = random.choice(wild)
    return how, changed
