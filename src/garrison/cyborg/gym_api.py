"""Whose `Env`, spaces and tuples the Gym wrappers have: the old gym's as in the original, or Gymnasium's."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cyborg.script_settings import chosen_api

IS_GYMNASIUM = chosen_api() == "gymnasium"

gym: Any = import_module("gymnasium" if IS_GYMNASIUM else "gym")
Env = gym.Env
spaces = gym.spaces

METADATA: dict[str, Any] = {"render_modes": []} if IS_GYMNASIUM else {}


def seed_both(env: Any, seed: int | None) -> None:
    """Seed what Gymnasium keeps in an environment, and Python's global generator."""
    gym.Env.reset(env, seed=seed)
    if seed is not None:
        env.set_seed(seed)


def stepped(observation: Any, reward: float, done: bool, is_over: bool, info: dict[str, Any]) -> Any:
    """Return what `step` returns; `is_over` says that the steps are used up, `done` that the game is."""
    if IS_GYMNASIUM:
        return fitting(observation), reward, done, is_over, info
    return observation, reward, done or is_over, info


def four(values: Any) -> tuple[Any, float, bool, dict[str, Any]]:
    """Return an answer of `step` as the old gym's four values."""
    observation, reward, done, *truncated, info = values
    return observation, reward, done or any(truncated), info


def first(values: Any) -> Any:
    """Return the observation in an answer of `reset`."""
    return values[0] if IS_GYMNASIUM else values


def fitting(observation: Any) -> NDArray[np.float32]:
    """Return an observation with the type of its space, which Gymnasium checks; the original's are whole numbers."""
    return np.asarray(observation, dtype=np.float32)
