"""Garrison: an exact, compiled, batched CAGE Challenge 2, and what trains defenders on it.

Importing this package registers its environments with Gymnasium and does nothing else: the names below, the compiler
and torch load on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from garrison.registration import register
from garrison.version import __version__

if TYPE_CHECKING:
    from garrison import cage2, cluster, vector

__all__ = ["__version__", "cage2", "cluster", "vector"]

register()


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"garrison.{name}")
    raise AttributeError(f"module 'garrison' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
