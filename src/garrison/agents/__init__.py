"""Things that choose Blue's actions for many environments at once.

An agent sees what an entry to the challenge may see: the 52 observations, its own actions and its memory.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from garrison.agents.load import load_agent
    from garrison.agents.network import NetworkAgent
    from garrison.agents.protocol import Agent
    from garrison.agents.scripted import SCRIPTED

__all__ = ["SCRIPTED", "Agent", "NetworkAgent", "load_agent"]

_HOMES = {"Agent": "protocol", "NetworkAgent": "network", "SCRIPTED": "scripted", "load_agent": "load"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"garrison.agents.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'garrison.agents' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
