"""CAGE Challenge 2 (CybORG, Scenario2), re-created step for step, compiled and batched.

`VectorEnv` is the batch and `Env` one environment; `garrison.cage2.names` has the action table and every code.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from garrison.cage2.env import Env
    from garrison.cage2.names import ACTIONS, HOSTS
    from garrison.cage2.scenario import load_scenario
    from garrison.cage2.step import warm_up
    from garrison.cage2.truth import Truth
    from garrison.cage2.vector_env import VectorEnv

__all__ = ["ACTIONS", "HOSTS", "Env", "Truth", "VectorEnv", "load_scenario", "warm_up"]

_HOME = {
    "ACTIONS": "names",
    "HOSTS": "names",
    "Env": "env",
    "Truth": "truth",
    "VectorEnv": "vector_env",
    "load_scenario": "scenario",
    "warm_up": "step",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"garrison.cage2.{_HOME[name]}"), name)
    raise AttributeError(f"module 'garrison.cage2' has no attribute {name!r}; it has {', '.join(__all__)}")
