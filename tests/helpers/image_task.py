"""A small image task: say which of two shapes is somewhere in a noisy picture."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

SIDE, STEPS = 10, 8
SHAPES = np.array([[[0, 1, 0], [1, 1, 1], [0, 1, 0]], [[1, 0, 1], [0, 1, 0], [1, 0, 1]]], np.uint8)
"""A plus and a cross: equally bright, so only their pattern tells, wherever they are."""


class FindShape(gymnasium.Env[Any, Any]):
    """Pays 1 for naming the shape; every step shows a new picture, eight to an episode.

    Args:
        is_dict: show the picture in a dictionary beside a number that says nothing.
    """

    action_space = spaces.Discrete(2)

    def __init__(self, is_dict: bool = False) -> None:
        picture = spaces.Box(0, 255, (SIDE, SIDE, 1), np.uint8)
        self._is_dict = is_dict
        self.observation_space: Any = picture
        if is_dict:
            self.observation_space = spaces.Dict(number=spaces.Box(-1, 1, (1,), np.float32), picture=picture)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._time = 0
        return self._show(), {}

    def step(self, action: Any) -> Any:
        self._time += 1
        reward = float(action == self._shape)
        return self._show(), reward, False, self._time == STEPS, {}

    def _show(self) -> Any:
        rng = self.np_random
        self._shape = int(rng.integers(2))
        picture = rng.integers(0, 60, (SIDE, SIDE, 1), np.uint8)
        row, column = rng.integers(0, SIDE - 2, 2)
        picture[row : row + 3, column : column + 3, 0] += 190 * SHAPES[self._shape]
        number = rng.uniform(-1, 1, 1).astype(np.float32)
        return {"number": number, "picture": picture} if self._is_dict else picture
