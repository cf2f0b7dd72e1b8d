"""Nested values by dotted names, as people write settings and trackers list them."""

from collections.abc import Mapping
from typing import Any


def flat(values: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """Return nested values by their dotted names.

    >>> flat({"env": {"red": "bline"}, "ppo": {"policy": {"hidden": [64]}}})
    {'env.red': 'bline', 'ppo.policy.hidden': [64]}
    """
    found: dict[str, Any] = {}
    for key, value in values.items():
        name = join(where, key)
        found |= flat(value, name) if isinstance(value, Mapping) and value else {name: value}
    return found


def join(where: str, key: object) -> str:
    """Return the dotted name of a key within `where`, which is "" at the top."""
    return f"{where}.{key}" if where else str(key)
