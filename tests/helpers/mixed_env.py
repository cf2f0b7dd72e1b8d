"""A vector environment with everything at once: a dictionary with a picture, action masks, extras, and a state."""

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

LENGTH, ACTIONS = 7, 4


class MixedEnvs(VectorEnv[Any, Any, Any]):
    """Pays for the action that the extra `answer` names; forbids one action in every step; resets in the next step."""

    metadata: ClassVar[dict[str, Any]] = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, num_envs: int) -> None:
        self.num_envs = num_envs
        self.single_observation_space = spaces.Dict(
            numbers=spaces.Box(-np.inf, np.inf, (3,), np.float32), picture=spaces.Box(0, 255, (6, 6, 1), np.uint8)
        )
        self.single_action_space = spaces.Discrete(ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.extras = {"answer": np.zeros((num_envs, 1), np.float32)}
        self._draws, self._times = np.zeros(num_envs, np.int64), np.zeros(num_envs, np.int64)
        self._ended = np.zeros(num_envs, np.bool_)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        self._draws[:] = (int(seed or 0) + np.arange(self.num_envs)) * 1000
        self._times[:], self._ended[:] = 0, False
        return self._show(), {}

    def step(self, actions: Any) -> Any:
        assert (actions != self._forbidden())[~self._ended].all()
        rewards = np.where(self._ended, 0.0, 50.0 * (actions == self.extras["answer"][:, 0]))
        self._times = np.where(self._ended, 0, self._times + 1)
        self._ended = self._times == LENGTH
        self._draws += 1
        return self._show(), rewards, np.zeros(self.num_envs, np.bool_), self._ended.copy(), {}

    def action_masks(self) -> Any:
        return np.arange(ACTIONS) != self._forbidden()[:, None]

    def get_state(self) -> Any:
        return {"draws": self._draws.copy(), "times": self._times.copy(), "ended": self._ended.copy()}

    def set_state(self, state: Any) -> None:
        self._draws, self._times, self._ended = (state[key].copy() for key in ("draws", "times", "ended"))
        self._show()

    def _forbidden(self) -> Any:
        return (self.extras["answer"][:, 0].astype(np.int64) + 1 + self._draws % 2) % ACTIONS

    def _show(self) -> Any:
        numbers, pictures = [], []
        for i, draw in enumerate(self._draws):
            rng = np.random.default_rng(int(draw))
            answer = int(rng.integers(ACTIONS))
            self.extras["answer"][i] = answer
            numbers.append(rng.normal(100.0 * answer, 10.0, 3))
            picture = rng.integers(0, 50, (6, 6, 1), np.uint8)
            picture[answer : answer + 2] += 200
            pictures.append(picture)
        return {"numbers": np.array(numbers, np.float32), "picture": np.array(pictures)}
