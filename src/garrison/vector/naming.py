"""One way to name an environment in text: a Gymnasium id, `module:Id` or `module:callable`; and its arguments."""

import json
import os
import sys
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import Any

import gymnasium

from garrison.errors import UserError


def resolve_env(name: str) -> str | Callable[..., Any]:
    """Return what makes the environment: the id itself, or the callable that `module:callable` names.

    A module is also looked for in the working directory, whatever program runs.
    """
    module, _, rest = name.partition(":")
    if rest:
        found = getattr(_import(module, name), rest, None)
        if callable(found):
            made: Callable[..., Any] = found
            return made
    wanted = rest or name
    try:
        gymnasium.spec(wanted)
    except gymnasium.error.Error as error:
        if any(known.startswith(f"{wanted}-v") for known in gymnasium.registry):
            return name  # without a version: Gymnasium takes the newest
        known = get_close_matches(wanted, gymnasium.registry, n=3)
        hint = f"did you mean {' or '.join(known)}?" if known else "give a Gymnasium id or package.module:callable."
        raise UserError(f"no environment {name!r} ({error}); {hint}") from None
    return name


def _import(module: str, name: str) -> ModuleType:
    here = os.getcwd()
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # An installed command does not look in the working directory, as `python` and `python -m` do.
        if error.name != module.partition(".")[0] or here in sys.path:
            raise UserError(f"{name!r} begins with a module that cannot be imported: {error}") from None
    except (ImportError, ValueError) as error:
        raise UserError(f"{name!r} begins with a module that cannot be imported: {error}") from None
    sys.path.insert(0, here)
    try:
        return _import(module, name)
    except UserError:
        sys.path.remove(here)
        raise


def parse_env_args(pairs: Iterable[str]) -> dict[str, Any]:
    """Turn key=value pairs into arguments of the environment; values are JSON, or plain words.

    >>> parse_env_args(["length=30", "red=bline"])
    {'length': 30, 'red': 'bline'}
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UserError(f"an argument of the environment is written key=value; got {pair!r}")
        try:
            found[key] = json.loads(value)
        except json.JSONDecodeError:
            found[key] = value
    return found


def to_pairs(arguments: dict[str, Any]) -> list[str]:
    """Return arguments of the environment as the pairs that `parse_env_args` reads.

    >>> to_pairs({"length": 30, "red": "bline"})
    ['length=30', 'red="bline"']
    """
    return [f"{key}={json.dumps(value)}" for key, value in arguments.items()]
