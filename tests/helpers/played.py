"""What a vector environment returns for a seed and random actions, and whether two of these are the same."""

from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium import spaces


def trace(envs: Any, seed: int, steps: int) -> list[Any]:
    """Reset and step with the same random actions as every call with these arguments; close in the end."""
    random = np.random.default_rng(seed)
    try:
        found = [deepcopy(envs.reset(seed=seed))]
        found += [deepcopy(envs.step(_actions(envs, random))) for _ in range(steps)]
    finally:
        envs.close()
    return found


def _actions(envs: Any, random: np.random.Generator) -> Any:
    space = envs.single_action_space
    if isinstance(space, spaces.Box):
        return random.uniform(space.low, space.high, (envs.num_envs, *space.shape)).astype(space.dtype)
    return random.integers(0, int(space.n), envs.num_envs)


def is_same(mine: Any, other: Any) -> bool:
    """Say whether nested arrays have the same types and bytes."""
    if isinstance(mine, dict):
        return mine.keys() == other.keys() and all(is_same(mine[key], other[key]) for key in mine)
    if isinstance(mine, tuple | list):
        return len(mine) == len(other) and all(is_same(a, b) for a, b in zip(mine, other, strict=True))
    if mine is None:
        return other is None
    a, b = np.asarray(mine), np.asarray(other)
    if a.dtype == object:
        return is_same(list(a), list(b))
    return a.dtype == b.dtype and np.array_equal(a, b)
