"""Tiny tasks whose actions are not just an index: what is right follows at once from what is shown."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

WHEEL = np.array([[0.5, 0.0], [-0.3, 0.4], [0.0, -0.6]])
PARTS = spaces.Dict(
    aim=spaces.Box(-2.0, np.array([1.0, np.inf]), (2,), np.float64),
    switches=spaces.MultiBinary(2),
    tools=spaces.Tuple((spaces.Discrete(3, start=-1), spaces.MultiDiscrete([2, 4]))),
)


class SteeringEnv(VectorEnv[Any, Any, Any]):
    """Shows three numbers and pays 1 less the squared distance of the action from a linear function of them."""

    def __init__(self, num_envs: int = 4, length: int = 10) -> None:
        self.num_envs, self.length = num_envs, length
        self.single_observation_space = spaces.Box(-1.0, 1.0, (3,), np.float32)
        self.single_action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
        self.final_observations = np.zeros((num_envs, 3), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.random, self.time = np.random.default_rng(seed), 0
        return self._show(), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        assert actions.dtype == np.float32
        assert self.action_space.contains(actions)
        rewards = 1.0 - ((actions - self.shown @ WHEEL) ** 2).sum(axis=1)
        self.time = (self.time + 1) % self.length
        ends = np.full(self.num_envs, self.time == 0)
        self.final_observations[:] = self.shown
        return self._show(), rewards, ends, np.zeros(self.num_envs, np.bool_), {}

    def _show(self) -> Any:
        self.shown = self.random.uniform(-1, 1, (self.num_envs, 3)).astype(np.float32)
        return self.shown


class StrictEnv(gymnasium.Env[Any, Any]):
    """Takes actions of any space and fails on one that does not lie in it; ends after five steps."""

    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float32)

    def __init__(self, action_space: spaces.Space[Any] = PARTS) -> None:
        self.action_space = action_space

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.time = 0
        return self._show(), self._info()

    def step(self, action: Any) -> Any:
        if not self.action_space.contains(action):
            raise ValueError(f"{action} is not in {self.action_space}")
        self.time += 1
        reward = self.pay(action)
        return self._show(), reward, False, self.time == 5, self._info()

    def pay(self, action: Any) -> float:
        return 0.0

    def _info(self) -> dict[str, Any]:
        return {}

    def _show(self) -> Any:
        self.shown = self.np_random.uniform(-1, 1, 2).astype(np.float32)
        return self.shown


class ToolboxEnv(StrictEnv):
    """Pays for each right part of an action of `PARTS`; four points a step at most, masks the second tool."""

    def pay(self, action: Any) -> float:
        first, second = self.shown
        aim = 1.0 - min(1.0, float(((action["aim"] - [0.5 * first, 1.0]) ** 2).sum()))
        switches = float((action["switches"] == [first > 0, second > 0]).mean())
        one, others = action["tools"]
        return aim + switches + float(one == (1 if second > 0 else -1)) + float(others[1] == 3)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": {"tools": np.array([1, 0, 1, 1, 1, 1, 1, 1, 1], np.int8)}}


class PaintedEnv(StrictEnv):
    """Takes one number between 0 and 1 and shows it as a shade of grey."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 - as in Gymnasium

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(spaces.Box(0.0, 1.0, (1,), np.float32))
        self.render_mode, self.shade = render_mode, 0.0

    def pay(self, action: Any) -> float:
        self.shade = float(action[0])
        return self.shade

    def render(self) -> Any:
        return np.full((32, 32, 3), int(255 * self.shade), np.uint8)
