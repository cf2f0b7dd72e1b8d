"""PPO learns CartPole through every kind of vector environment, and a task that needs memory through a GRU."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from garrison import vector
from garrison.learn import PolicyConfig, PPOConfig, train

pytestmark = pytest.mark.long

# Ten runs with other seeds ended between 401 and 491; the reward's scale keeps the critic from drowning the actor.
CARTPOLE = PPOConfig(
    steps=60_000,
    rollout=64,
    minibatches=4,
    learning_rate=3e-3,
    gae_lambda=0.9,
    entropy_coef=0.005,
    reward_scale=0.05,
    threads=1,
)


def cartpole() -> gymnasium.Env[Any, Any]:
    return gymnasium.make("CartPole-v1")


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
@pytest.mark.parametrize("compute", ["compiled", "autograd"])
def test_cartpole_is_learned_through_gymnasium(mode: AutoresetMode, compute: str) -> None:
    envs = SyncVectorEnv([cartpole] * 8, autoreset_mode=mode)
    result = train(PPOConfig(**{**vars(CARTPOLE), "compute": compute}), envs)
    assert result.compute == compute
    assert result.metrics["rollout/ep_reward_mean"] > 300


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["same_step", "next_step"])
@pytest.mark.parametrize("backend", ["serial", "shared", "async"])
def test_cartpole_is_learned_through_our_backends(backend: str, mode: str) -> None:
    envs = vector.make(cartpole, 8, backend, workers=2, autoreset_mode=mode)
    try:
        result = train(CARTPOLE, envs)
    finally:
        envs.close()
    assert result.metrics["rollout/ep_reward_mean"] > 300


class Recall(gymnasium.Env[Any, Any]):
    """Shows a bit once and pays for repeating it three steps later: impossible without memory."""

    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.bit, self.time = int(self.np_random.integers(2)), 0
        return np.array([2 * self.bit - 1, 0], np.float32), {}

    def step(self, action: Any) -> Any:
        self.time += 1
        over = self.time == 4
        reward = float(action == self.bit) if over else 0.0
        return np.array([0, self.time == 3], np.float32), reward, over, False, {}


@pytest.mark.parametrize(("size", "low", "high"), [(16, 0.95, 1.0), (0, 0.2, 0.8)])
def test_only_a_policy_with_memory_recalls(size: int, low: float, high: float) -> None:
    envs = SyncVectorEnv([Recall] * 32, autoreset_mode=AutoresetMode.SAME_STEP)
    policy = PolicyConfig(hidden=(16,), recurrent_size=size)
    config = PPOConfig(steps=40_000, rollout=16, minibatches=2, learning_rate=1e-2, threads=1, policy=policy)
    result = train(config, envs)
    assert low <= result.metrics["rollout/ep_reward_mean"] <= high
