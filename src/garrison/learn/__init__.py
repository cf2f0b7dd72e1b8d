"""Learning: PPO, IMPALA, A3C, their pure parts, and policies as torch modules.

Importing this package loads nothing; its names load on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from garrison.learn.config import A3CConfig, ImpalaConfig, PolicyConfig, PPOConfig
    from garrison.learn.policy import Policy
    from garrison.learn.ppo import Diverged, Result, RunLog, train
    from garrison.learn.returns import gae
    from garrison.learn.vtrace import vtrace

__all__ = [
    "A3CConfig",
    "Diverged",
    "ImpalaConfig",
    "PPOConfig",
    "Policy",
    "PolicyConfig",
    "Result",
    "RunLog",
    "gae",
    "train",
    "vtrace",
]

_HOMES = {
    "A3CConfig": "config",
    "ImpalaConfig": "config",
    "Diverged": "ppo",
    "PPOConfig": "config",
    "Policy": "policy",
    "PolicyConfig": "config",
    "Result": "ppo",
    "RunLog": "ppo",
    "gae": "returns",
    "train": "ppo",
    "vtrace": "vtrace",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"garrison.learn.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'garrison.learn' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
