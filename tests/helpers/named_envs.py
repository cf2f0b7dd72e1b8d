"""Environments that are named in text: `tests.helpers.named_envs:Pixels-v0`, `tests.helpers.named_envs:flat`."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import FlattenObservation

LENGTH = 7


class Pixels(gymnasium.Env[Any, Any]):
    """Shows an image, and pays for action 1."""

    def __init__(self, size: int = 4, timeout: float = 0.0) -> None:
        self.observation_space = spaces.Box(0, 255, (size, size, 3), np.uint8)
        self.action_space = spaces.Discrete(2)
        self.timeout = timeout

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.t = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self.t += 1
        return self._seen(), float(action), False, self.t == LENGTH, {}

    def _seen(self) -> Any:
        return self.np_random.integers(0, 256, self.observation_space.shape, np.uint8)


class Parts(Pixels):
    """Shows a Dict."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = spaces.Dict(place=spaces.Box(-1.0, 1.0, (3,)), door=spaces.Discrete(4))

    def _seen(self) -> Any:
        return self.observation_space.sample()


def flat() -> Any:
    """What the message about other spaces recommends."""
    return FlattenObservation(gymnasium.make("Parts-v0"))


gymnasium.register("Pixels-v0", Pixels)
gymnasium.register("Parts-v0", Parts)
