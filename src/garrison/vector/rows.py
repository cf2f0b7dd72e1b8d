"""Batches of any space as plain arrays: writing observations into rows, reading actions out of them.

A leaf space (Box, Discrete, MultiDiscrete, MultiBinary) is one array whose first axis counts the environments; a Dict
or Tuple is a dict or tuple of those, nested as deep as the space. Any other space (Text, Sequence, Graph, OneOf, one of
your own) is an array of objects, which callers see as a tuple, as Gymnasium's batches have it. Objects cannot lie in
shared memory: they travel pickled.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import Space, spaces
from numpy.typing import NDArray

from garrison.contract.misuse import WrongType
from garrison.errors import UserError

Where = slice | list[int]
"""Rows of a batch: consecutive ones as a slice, any others as a list."""
Arrays = Any
"""An array, or a dict or tuple of batches."""

LEAVES = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


def build(space: Space[Any], num_envs: int, take: Callable[[tuple[int, ...], np.dtype[Any]], NDArray[Any]]) -> Arrays:
    """Build a batch for `space` out of arrays that `take(shape, dtype)` hands out."""
    if isinstance(space, spaces.Dict):
        return {key: build(part, num_envs, take) for key, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(build(part, num_envs, take) for part in space.spaces)
    if not isinstance(space, LEAVES):
        return np.empty(num_envs, object)
    assert space.shape is not None
    assert space.dtype is not None
    return take((num_envs, *space.shape), np.dtype(space.dtype))


def object_spaces(space: Space[Any]) -> list[Space[Any]]:
    """Return the parts of a space whose values are objects."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        parts = space.spaces.values() if isinstance(space, spaces.Dict) else space.spaces
        return [found for part in parts for found in object_spaces(part)]
    return [] if isinstance(space, LEAVES) else [space]


def object_arrays(batch: Arrays) -> Iterator[NDArray[Any]]:
    """Yield the arrays of objects in a batch, always in the same order."""
    if isinstance(batch, dict | tuple):
        for part in batch.values() if isinstance(batch, dict) else batch:
            yield from object_arrays(part)
    elif batch.dtype == np.object_:
        yield batch


def shown(batch: Arrays) -> Arrays:
    """Return a batch as callers see it, with a tuple in the place of each array of objects."""
    if isinstance(batch, dict):
        return {key: shown(part) for key, part in batch.items()}
    if isinstance(batch, tuple):
        return tuple(map(shown, batch))
    return tuple(batch) if batch.dtype == np.object_ else batch


def put(objects: NDArray[Any], where: Where | NDArray[Any], values: Iterable[Any]) -> None:
    """Write `values[k]` to row `where[k]`, whatever it is: NumPy would look into lists and arrays."""
    for i, value in zip(np.arange(len(objects))[where], values, strict=True):
        objects[i] = value


def part_of(batch: Arrays, where: slice | list[int] | NDArray[Any]) -> Arrays:
    """Return some rows of a batch: views for a slice, copies for a list."""
    if isinstance(batch, dict):
        return {key: part_of(part, where) for key, part in batch.items()}
    if isinstance(batch, tuple):
        return tuple(part_of(part, where) for part in batch)
    return batch[where]


def duplicate(batch: Arrays) -> Arrays:
    """Copy a batch, or one observation."""
    if isinstance(batch, np.ndarray) and batch.dtype != np.object_:
        return np.copy(batch)
    if isinstance(batch, dict):
        return {key: duplicate(part) for key, part in batch.items()}
    if type(batch) is tuple:  # not the named tuples that some objects are
        return tuple(duplicate(part) for part in batch)
    return deepcopy(batch)


def assign(target: Arrays, where: slice | NDArray[Any], source: Arrays, path: str = "actions") -> None:
    """Copy `source` into rows of `target`: the shape must fit exactly, the type may differ within its kind."""
    if isinstance(target, dict):
        if not isinstance(source, dict) or source.keys() != target.keys():
            raise UserError(f"{path} must be a dict with the keys {sorted(target)}; got {_brief(source)}")
        for key, part in target.items():
            assign(part, where, source[key], f"{path}[{key!r}]")
    elif isinstance(target, tuple):
        if not isinstance(source, tuple | list) or len(source) != len(target):
            raise UserError(f"{path} must be a tuple of {len(target)} batches; got {_brief(source)}")
        for k, part in enumerate(target):
            assign(part, where, source[k], f"{path}[{k}]")
    elif target.dtype == np.object_:
        count = len(target[where])
        if not isinstance(source, tuple | list | np.ndarray) or len(source) != count:
            kind = UserError if hasattr(source, "__len__") else WrongType
            raise kind(f"{path} must be a tuple of {count}; got {_brief(source)}")
        put(target, where, source)
    else:
        rows = target[where]
        values = np.asarray(source)
        if values.shape != rows.shape:
            kind = UserError if values.ndim else WrongType
            raise kind(f"{path} must have shape {rows.shape}; got {values.shape}")
        if values.dtype != rows.dtype and not np.can_cast(values.dtype, rows.dtype, "same_kind"):
            raise UserError(f"{path} must be of type {rows.dtype}; got {values.dtype}")
        if isinstance(where, slice):
            rows[...] = values  # a view
        else:
            target[where] = values


def stack(space: Space[Any], values: Sequence[Any]) -> Arrays:
    """Make a batch of one value of `space` per environment: what `split` undoes."""
    if isinstance(space, spaces.Dict):
        return {key: stack(part, [value[key] for value in values]) for key, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(stack(part, [value[k] for value in values]) for k, part in enumerate(space.spaces))
    return np.asarray(values, space.dtype) if isinstance(space, LEAVES) else tuple(values)


def split(space: Space[Any], batch: Arrays, where: Where) -> list[Any]:
    """Return one action per chosen environment, as its action space would sample it; nothing shares the batch's memory.

    An environment may keep its action; the batch is overwritten by the next step.
    """
    if isinstance(space, spaces.Dict):
        keys = list(space.spaces)
        columns = [split(part, batch[key], where) for key, part in space.spaces.items()]
        return [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]
    if isinstance(space, spaces.Tuple):
        columns = [split(part, batch[k], where) for k, part in enumerate(space.spaces)]
        return list(zip(*columns, strict=True))
    rows = batch[where]
    return list(rows) if rows.ndim == 1 else list(rows.copy())


@dataclass(frozen=True)
class Leaf:
    """Writes the observations of a leaf space into their rows.

    It collects a whole run of observations in one call to NumPy: a third of the cost of one assignment per row.
    """

    rows: NDArray[Any]

    def write(self, where: Where, values: Sequence[Any]) -> None:
        """Write `values[k]` to row `where[k]`; raise one of `group.MISFITS` if one does not fit."""
        rows = self.rows
        if rows.dtype.kind == "f" and getattr(values[0], "dtype", None) != rows.dtype:
            with np.errstate(over="raise"):
                self._write(where, values)
        else:
            self._write(where, values)

    def _write(self, where: Where, values: Sequence[Any]) -> None:
        rows = self.rows
        if rows.ndim == 1:
            rows[where] = values
            return
        length = rows.shape[1]
        if set(map(len, values)) != {length}:  # concatenate alone would let two wrong lengths cancel out
            raise ValueError(f"every observation must have {length} rows")
        if isinstance(where, slice):
            start, stop, _ = where.indices(len(rows))
            flat = rows.reshape(-1, *rows.shape[2:])[start * length : stop * length]
            np.concatenate(values, out=flat)
        else:
            together = np.concatenate(values, dtype=rows.dtype, casting="same_kind")
            rows[where] = together.reshape(-1, *rows.shape[1:])


@dataclass(frozen=True)
class ObjectLeaf:
    """Writes the observations of a space whose values are objects."""

    rows: NDArray[Any]

    def write(self, where: Where, values: Sequence[Any]) -> None:
        """Write `values[k]` to row `where[k]`."""
        put(self.rows, where, values)


@dataclass(frozen=True)
class Branch:
    """Writes the observations of a Dict or Tuple space, part by part."""

    parts: tuple[tuple[Any, "Leaf | ObjectLeaf | Branch"], ...]

    def write(self, where: Where, values: Sequence[Any]) -> None:
        """Write `values[k]` to row `where[k]` of every part."""
        for key, part in self.parts:
            part.write(where, [value[key] for value in values])


def writer(space: Space[Any], batch: Arrays) -> Leaf | ObjectLeaf | Branch:
    """Return what writes observations of `space` into `batch`."""
    if isinstance(space, spaces.Dict):
        return Branch(tuple((key, writer(part, batch[key])) for key, part in space.spaces.items()))
    if isinstance(space, spaces.Tuple):
        return Branch(tuple((k, writer(part, batch[k])) for k, part in enumerate(space.spaces)))
    return Leaf(batch) if isinstance(space, LEAVES) else ObjectLeaf(batch)


def mismatch(space: Space[Any], value: Any, path: str = "the observation") -> str | None:
    """Return how `value` fails to fit a row of `space`, or return None; bounds are the environment's own business."""
    if isinstance(space, spaces.Dict):
        if not isinstance(value, dict) or not space.spaces.keys() <= value.keys():
            return f"{path} must be a dict with the keys {sorted(space.spaces)}; got {_brief(value)}"
        pairs = [(part, value[key], f"{path}[{key!r}]") for key, part in space.spaces.items()]
        return next(filter(None, (mismatch(*pair) for pair in pairs)), None)
    if isinstance(space, spaces.Tuple):
        if not isinstance(value, tuple | list) or len(value) != len(space.spaces):
            return f"{path} must be a tuple of {len(space.spaces)}; got {_brief(value)}"
        pairs = [(part, value[k], f"{path}[{k}]") for k, part in enumerate(space.spaces)]
        return next(filter(None, (mismatch(*pair) for pair in pairs)), None)
    if not isinstance(space, LEAVES):
        return None
    try:
        array = np.asarray(value)
    except ValueError as error:
        return f"{path} is no array: {error}"
    if array.shape != space.shape:
        return f"{path} has shape {array.shape}, but its space has {space.shape}"
    if not np.can_cast(array.dtype, np.dtype(space.dtype), "same_kind"):
        return f"{path} has type {array.dtype}, but its space has {space.dtype}"
    if array.dtype != space.dtype and array.dtype.kind == "f":
        try:
            with np.errstate(over="raise"):
                array.astype(space.dtype)
        except FloatingPointError:
            return f"{path} holds a number that is too large for {space.dtype}"
    return None


def _brief(value: Any) -> str:
    if isinstance(value, dict):
        return f"a dict with the keys {sorted(map(str, value))}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return type(value).__name__
