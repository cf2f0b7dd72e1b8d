"""Whether a name of CybORG is here, only in the original, or the user's own."""

import ast
import inspect
import textwrap
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from garrison.cyborg.controller import Controller
from garrison.cyborg.refusal import MissingName, original_names
from garrison.cyborg.script_files import assigned_to_self, place_of
from garrison.cyborg.staging import SOURCE

THERE = "there"
MISSING = "missing"
YOURS = "yours"
UNKNOWN = "unknown"


class Found(NamedTuple):
    """What a name is here: its mark, and the object if we have it."""

    mark: str
    value: Any = None


def module(name: str, root: Path) -> Found:
    """Look a module up; only ours are imported. Needs `install` before."""
    if place_of(name, SOURCE) is not None or SOURCE.joinpath(*name.split(".")).is_dir():
        return Found(THERE, import_module(name))
    if name in original_names()["modules"]:
        return Found(MISSING)
    return Found(YOURS if place_of(name, root) is not None else UNKNOWN)


def member(of: str, name: str, root: Path) -> Found:
    """Look up what `from of import name` would give."""
    holder = module(of, root)
    if not isinstance(holder.value, ModuleType):
        return Found(holder.mark)
    below = module(f"{of}.{name}", root)
    if isinstance(below.value, ModuleType) and not inspect.isclass(getattr(holder.value, name, None)):
        return below
    try:
        return Found(THERE, getattr(holder.value, name))
    except MissingName:
        return Found(MISSING)
    except AttributeError:
        return below


def attribute(kind: type, name: str) -> str:
    """Say whether objects of one of our classes have an attribute."""
    if hasattr(kind, name) or name in _set_by(kind):
        return THERE
    known = original_names()["classes"]
    if kind is Controller or any(
        name in known.get(f"{parent.__module__}.{parent.__name__}", ()) for parent in kind.__mro__
    ):
        return MISSING
    return UNKNOWN


@cache
def known_methods() -> frozenset[str]:
    """Return the names that only CybORG and its wrappers have, and no other library: with an underscore inside."""
    wrappers = ("CybORG.CybORG.CybORG", "CybORG.Agents.Wrappers.")
    classes = original_names()["classes"].items()
    names = {name for kind, attributes in classes if kind.startswith(wrappers) for name in attributes}
    return frozenset(name for name in names if "_" in name.strip("_")) - {"action_space", "observation_space"}


@cache
def _set_by(kind: Any) -> frozenset[str]:
    """Return what the methods of a class and of its parents assign to `self`."""
    names: set[str] = set()
    for parent in kind.__mro__[:-1]:
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(parent)))
        except (OSError, TypeError, SyntaxError):  # written in C, or made while running
            continue
        names |= assigned_to_self(tree)
    return frozenset(names)
