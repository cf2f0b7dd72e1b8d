"""Environments of every kind of space, which cost nothing and end after some steps."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

IMAGE = spaces.Box(0, 255, (40, 40, 3), np.uint8)
NUMBERS = spaces.Box(-1.0, 1.0, (3,), np.float32)


class AnySpaces(gymnasium.Env[Any, Any]):
    """Shows and takes what it is told to."""

    def __init__(self, observations: spaces.Space[Any], actions: spaces.Space[Any]) -> None:
        self.observation_space, self.action_space = observations, actions
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        self.steps = 0
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        self.steps += 1
        return self.observation_space.sample(), 1.0, self.steps == 9, False, {}


def pictures() -> AnySpaces:
    return AnySpaces(IMAGE, spaces.Discrete(3))


def camera_and_sensors() -> AnySpaces:
    return AnySpaces(spaces.Dict(camera=IMAGE, sensors=NUMBERS), spaces.Box(-1.0, 1.0, (2,), np.float32))


def sized(width: int) -> AnySpaces:
    return AnySpaces(spaces.Box(-1.0, 1.0, (width,), np.float32), spaces.Discrete(2))


def sensors() -> AnySpaces:
    return AnySpaces(spaces.Dict(left=NUMBERS, right=NUMBERS), spaces.Discrete(2))


def spoken() -> AnySpaces:
    return AnySpaces(spaces.Text(5), spaces.Discrete(2))
