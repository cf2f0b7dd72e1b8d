"""Frozen dataclasses from YAML and back.

A file may say any part of the settings; the rest keeps its defaults. What is unknown or of the wrong type is an error
that names the place and suggests the right word.
"""

import types
import typing
from collections.abc import Collection
from dataclasses import is_dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from garrison.errors import UserError
from garrison.storage.dotted import join
from garrison.storage.schema import shown
from garrison.system import require

T = TypeVar("T")
HIGHEST = 2**63  # of a whole number: what the simulator and the networks count with


def to_yaml(values: dict[str, Any]) -> str:
    """Write nested plain values as YAML."""
    require("yaml")
    import yaml

    return str(yaml.safe_dump(values, sort_keys=False))


def from_yaml(text: str) -> Any:
    """Read YAML; an empty text is an empty mapping."""
    require("yaml")
    import yaml

    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UserError(f"not valid YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise UserError("not valid settings: the YAML is nested too deeply.") from None
    except ValueError as error:  # a number or a date that Python does not take
        raise UserError(f"not valid YAML: {error}.") from None
    return {} if values is None else values


def read_text(path: Path) -> str:
    """Read a file of settings."""
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the settings in {path}: {error}.") from None


def plain(value: Any) -> Any:
    """Return `value` with tuples as lists, as YAML knows them."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def read(cls: type[T], values: Any, base: T, where: str) -> T:
    """Build a dataclass from a mapping; `where` is the path to it, for messages."""
    if not isinstance(values, dict):
        raise UserError(f"{where} must be a mapping of settings; got {shown(values)}.")
    hints = typing.get_type_hints(cls)
    check_names(values, hints, where)
    changes = {
        key: read(hints[key], value, getattr(base, key), join(where, key))
        if is_dataclass(hints[key])
        else _convert(value, hints[key], join(where, key))
        for key, value in values.items()
    }
    try:
        return replace(base, **changes)  # type: ignore[type-var]
    except UserError as error:
        raise UserError(f"{where}: {error}") from None


def check_names(values: dict[Any, Any], known: Collection[str], where: str = "") -> None:
    """Raise a UserError at the first key that is not known."""
    for key in values:
        if key not in known:
            near = get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}."
            raise UserError(f"unknown setting {join(where, key)!r}; {hint}")


def _convert(value: Any, hint: Any, where: str) -> Any:
    """Return `value` as the type that a field wants; a whole number is also a float, nothing else is bent."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        options = typing.get_args(hint)
        if value is None and type(None) in options:
            return None
        return _convert(value, next(option for option in options if option is not type(None)), where)
    if origin is tuple and isinstance(value, list | tuple):
        return tuple(_convert(item, typing.get_args(hint)[0], where) for item in value)
    if origin is dict and isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise UserError(f"the names in {where} must be text; got {shown(key)}.")
        return value
    if isinstance(value, int) and abs(value) >= HIGHEST:
        raise UserError(f"{where} is a number with too many digits.")
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if hint is float and isinstance(value, str):  # YAML takes 1e-3, without a dot, for text
        try:
            return float(value)
        except ValueError:
            pass
    elif isinstance(hint, type) and isinstance(value, hint) and not (hint is int and isinstance(value, bool)):
        return value
    names = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "text"}
    wanted = names.get(getattr(hint, "__name__", ""), "a list" if origin is tuple else "a mapping")
    raise UserError(f"{where} must be {wanted}; got {shown(value)}.")
