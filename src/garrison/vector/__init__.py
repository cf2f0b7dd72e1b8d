"""Many environments behind one interface, each backend a `gymnasium.vector.VectorEnv`.

    envs = garrison.vector.make("CartPole-v1", num_envs=64)

`make` tells what the backends are and what they promise.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gymnasium.vector import AutoresetMode

    from garrison.vector.adapters.sb3 import sb3
    from garrison.vector.api import make
    from garrison.vector.faults import EnvFailed, EnvTimeout, WorkerDied

__all__ = ["AutoresetMode", "EnvFailed", "EnvTimeout", "WorkerDied", "make", "sb3"]

_HOMES = {
    "AutoresetMode": "gymnasium.vector",
    "EnvFailed": "garrison.vector.faults",
    "EnvTimeout": "garrison.vector.faults",
    "WorkerDied": "garrison.vector.faults",
    "make": "garrison.vector.api",
    "sb3": "garrison.vector.adapters.sb3",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'garrison.vector' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
