"""When one machine is not enough: Garrison on Ray.

`connect()` reaches a cluster, or starts a Ray of our own that only this machine can reach. Then
`garrison.vector.make(..., backend="ray")` steps environments in Ray actors, `garrison.learn.impala.train(...,
connect=Remote)` trains with actors all over the cluster, and `register()` gives RLlib the compiled batch.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from garrison.cluster.rllib import register
    from garrison.cluster.session import Session, connect, disconnect
    from garrison.cluster.transport import Remote

__all__ = ["Remote", "Session", "connect", "disconnect", "register"]

_HOMES = {
    "Remote": "transport",
    "Session": "session",
    "connect": "session",
    "disconnect": "session",
    "register": "rllib",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(f"garrison.cluster.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'garrison.cluster' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
