"""When one machine is not enough: Garrison on Ray.

garrison.cluster.connect()              # a Ray of our own on the loopback, RAY_ADDRESS, or an address
envs = garrison.vector.make("CartPole-v1", 64, backend="ray", workers=8)
garrison.cluster.register()             # garrison/CAGE2-v0 for RLlib, stepped as one compiled batch
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from garrison.cluster.rllib import register
    from garrison.cluster.session import Session, connect, disconnect

__all__ = ["Session", "connect", "disconnect", "register"]

_HOMES = {"Session": "session", "connect": "session", "disconnect": "session", "register": "rllib"}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(f"garrison.cluster.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'garrison.cluster' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
