"""One way to name an environment in text: a Gymnasium id, `module:Id` or `module:callable`; and its arguments."""

import json
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import gymnasium

from garrison.errors import UserError


def resolve_env(name: str) -> str | Callable[..., Any]:
    """Return what `garrison.vector.make` takes: the id itself, or the callable that `module:callable` names."""
    module, _, rest = name.partition(":")
    if rest:
        try:
            imported = import_module(module)
        except ImportError as error:
            raise UserError(f"{name!r} begins with a module that cannot be imported: {error}") from None
        found = getattr(imported, rest, None)
        if callable(found):
            made: Callable[..., Any] = found
            return made
    try:
        gymnasium.spec(rest or name)
    except gymnasium.error.Error as error:
        known = get_close_matches(rest or name, gymnasium.registry, n=3)
        hint = f"did you mean {' or '.join(known)}?" if known else "give a Gymnasium id or package.module:callable."
        raise UserError(f"no environment {name!r} ({error}); {hint}") from None
    return name


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
