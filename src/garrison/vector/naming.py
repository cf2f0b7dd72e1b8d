"""One way to name an environment in text: a Gymnasium id, `module:Id` or `module:callable`; and its arguments."""

import json
import sys
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import gymnasium

from garrison.contract.importing import import_for
from garrison.errors import UserError
from garrison.registration import PROCGEN_IDS, is_atari
from garrison.system import require


def resolve_env(name: str) -> str | Callable[..., Any]:
    """Return what makes the environment: the id itself, or the callable that `module:callable` names.

    A module is also looked for in the working directory, whatever program runs.
    """
    module, _, rest = name.partition(":")
    if rest in PROCGEN_IDS:
        module, name, rest = "", rest, ""  # as Procgen's documentation writes it; its module would ask for gym
    if rest:
        found = getattr(import_for(name, module), rest, None)
        if callable(found):
            made: Callable[..., Any] = found
            return made
    wanted = rest or name
    if wanted in PROCGEN_IDS:
        require("procgen")
    elif is_atari(wanted):
        require("ale_py")
        import_module("ale_py")  # registers them
    try:
        entry_point = gymnasium.spec(wanted).entry_point
    except gymnasium.error.Error as error:
        if any(known.startswith(f"{wanted}-v") for known in gymnasium.registry):
            return name  # without a version: Gymnasium takes the newest
        known = get_close_matches(wanted, gymnasium.registry, n=3)
        hint = f"did you mean {' or '.join(known)}?" if known else "give a Gymnasium id or package.module:callable."
        raise UserError(f"no environment {name!r} ({error}); {hint}") from None
    if isinstance(entry_point, str) and entry_point.startswith("gymnasium.envs.mujoco"):
        require("mujoco")
    return name


def name_of(maker: Callable[..., Any]) -> str:
    """Return what makes environments as `module:callable`, which files and other processes can find it by.

    >>> name_of(gymnasium.make)
    'gymnasium.envs.registration:make'
    """
    module, name = getattr(maker, "__module__", ""), getattr(maker, "__qualname__", "")
    if getattr(sys.modules.get(module), name, None) is not maker or module == "__main__":
        raise UserError(
            f"{maker!r} has no name that a file could give: define it at the top of a module, and import it from there."
        )
    return f"{module}:{name}"


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
