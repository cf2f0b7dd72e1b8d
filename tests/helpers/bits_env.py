"""A free batched environment with CAGE-2's shapes, whose whole state can be taken out and put back."""

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space


class BitsEnv(VectorEnv[Any, Any, Any]):
    """Shows random bits; pays 1 for the action that the first bits name in binary; truncates at `length`.

    If `staggered`, the first episodes are shorter, so that they end at different times.
    """

    def __init__(
        self, num_envs: int = 4, bits: int = 52, actions: int = 145, length: int = 100, staggered: bool = True
    ) -> None:
        self.num_envs, self.bits, self.length, self.staggered = num_envs, bits, length, staggered
        self.named = int(np.log2(actions))
        self.single_observation_space = spaces.Box(0, 1, (bits,), np.int8)
        self.single_action_space = spaces.Discrete(actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
        self.final_observations = np.zeros((num_envs, bits), np.int8)
        self.time = np.zeros(num_envs, np.int64)
        self.draws = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.seed = seed or 0
        self.draws = 0
        self.time[:] = np.arange(self.num_envs) % self.length if self.staggered else 0
        return self._show(), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        wanted = self.shown[:, : self.named] @ (1 << np.arange(self.named))
        rewards = (actions == wanted).astype(np.float64)
        self.time += 1
        truncations = self.time >= self.length
        self.time[truncations] = 0
        self._show()
        self.final_observations[truncations] = 1 - self.shown[truncations]
        return self.shown, rewards, np.zeros(self.num_envs, np.bool_), truncations, {}

    def get_state(self) -> dict[str, Any]:
        return {"time": self.time, "draws": self.draws, "shown": self.shown, "seed": self.seed}

    def set_state(self, state: dict[str, Any]) -> None:
        self.time[:] = state["time"]
        self.shown = state["shown"].copy()
        self.draws, self.seed = state["draws"], state["seed"]

    def _show(self) -> Any:
        random = np.random.default_rng((self.seed, self.draws))
        self.draws += 1
        self.shown = random.integers(0, 2, (self.num_envs, self.bits), np.int8)
        return self.shown
