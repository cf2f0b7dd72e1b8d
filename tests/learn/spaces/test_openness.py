"""A new kind of observation and a new kind of action are one class and one line each: nothing else changes."""

import math
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from garrison.errors import UserError
from garrison.learn import PolicyConfig, PPOConfig, train
from garrison.learn.nn.network import make_network
from garrison.learn.nn.policy import Policy
from garrison.learn.nn.sampling import draw_uniforms, make_streams
from garrison.learn.rollout import Rollout
from garrison.learn.spaces import registry
from garrison.learn.spaces.actions import ActionDistribution
from garrison.learn.spaces.observations import ObservationForm

WORDS = ("red", "blue", "green")


class SpelledForm(ObservationForm):
    """Words of a Text space: their letters are stored, the network sees how often each letter occurs."""

    shape, dtype = (5,), np.dtype(np.uint8)
    input_shape = (26,)

    @classmethod
    def accepts(cls, space: spaces.Space[Any]) -> bool:
        return isinstance(space, spaces.Text)

    def store(self, observations: Any, out: np.ndarray) -> None:
        for row, word in zip(out, observations, strict=True):
            row[:] = np.frombuffer(word.ljust(5).encode(), np.uint8)

    def inputs(self, stored: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
        out[:] = (stored[rows, :, None] == ord("a") + np.arange(26)).sum(axis=1)

    def batch(self, observations: Any) -> Any:
        return list(observations)


class Words(gymnasium.Env[Any, Any]):
    """Shows a word and pays for saying which; an episode has five words."""

    observation_space = spaces.Text(5, charset="bdeglnru")
    action_space = spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.time = 0
        return self._show(), {}

    def step(self, action: Any) -> Any:
        self.time += 1
        reward = float(action == self.shown)
        return self._show(), reward, False, self.time == 5, {}

    def _show(self) -> str:
        self.shown = int(self.np_random.integers(3))
        return WORDS[self.shown]


@pytest.mark.long
@pytest.mark.parametrize("recurrent_size", [0, 4])
@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_a_new_observation_form_trains(
    recurrent_size: int, mode: AutoresetMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "OBSERVATION_FORMS", [*registry.OBSERVATION_FORMS, SpelledForm])
    envs = SyncVectorEnv([Words] * 16, autoreset_mode=mode)
    policy = PolicyConfig(recurrent_size=recurrent_size)
    config = PPOConfig(steps=8000, rollout=20, learning_rate=3e-3, gamma=0.5, threads=1, policy=policy)
    result = train(config, envs)
    assert result.metrics["rollout/ep_reward_mean"] > 4  # of 5; guessing gives 1.7


class Laplace(ActionDistribution):
    """A Box with wider tails than a normal distribution, of a learned width that is the same everywhere."""

    def __init__(self, space: spaces.Box, config: PolicyConfig) -> None:
        super().__init__(space, config)
        (self.free_outputs,) = self.shape = space.shape
        self.outputs = 2 * self.free_outputs
        self.dtype = np.dtype(np.float32)

    @classmethod
    def accepts(cls, space: spaces.Space[Any], config: PolicyConfig) -> bool:
        return isinstance(space, spaces.Box) and len(space.shape) == 1

    def draw(self, outputs: Any, masks: Any, streams: Any, choices: Any, log_probs: Any) -> None:
        means, log_widths = np.split(outputs, 2, axis=1)
        uniforms = np.empty(means.shape, np.float32)
        draw_uniforms(streams, uniforms)
        centred = uniforms - 0.5
        choices[:] = means - np.exp(log_widths) * np.sign(centred) * np.log1p(-2 * np.abs(centred) + 1e-7)
        self.assess(outputs, masks, choices, log_probs)

    def mode(self, outputs: Any, masks: Any, choices: Any) -> None:
        choices[:] = np.split(outputs, 2, axis=1)[0]

    def evaluate(self, outputs: Any, choices: Any, masks: Any) -> Any:
        means, log_widths = outputs.chunk(2, dim=1)
        laplace = torch.distributions.Laplace(means, log_widths.exp())
        return laplace.log_prob(choices).sum(1), laplace.entropy().sum(1)

    def to_env(self, choices: Any) -> Any:
        return np.clip(choices, self.space.low, self.space.high)  # type: ignore[attr-defined]


class Aim(gymnasium.Env[Any, Any]):
    """Pays for hitting 0.5; ends after eight steps."""

    observation_space = spaces.Box(0, 1, (2,), np.float32)
    action_space = spaces.Box(-2, 2, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.time = 0
        return np.ones(2, np.float32), {}

    def step(self, action: Any) -> Any:
        self.time += 1
        return np.ones(2, np.float32), -float((action[0] - 0.5) ** 2), False, self.time == 8, {}


@pytest.fixture
def laplace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ACTION_DISTRIBUTIONS", [Laplace, *registry.ACTION_DISTRIBUTIONS])


@pytest.mark.usefixtures("laplace")
def test_a_new_distribution_draws_and_evaluates_what_it_drew() -> None:
    policy = Policy(Aim.observation_space, Aim.action_space, seed=1)
    policy.flat.add_(0.3)
    network = make_network(policy, 5000, "auto", 1)
    rollout = Rollout.allocate(1, 5000, policy.observations, policy.actions, masked=False)
    rollout.observations[:] = 1.0
    assert rollout.choices.dtype == np.float32
    streams = make_streams(0, 5000)
    no_masks = np.ones((0, 0), np.bool_)
    arrays = rollout.choices[0], rollout.log_probs[0], rollout.values[0]
    network.act(rollout.observations[0], rollout.starts[0], no_masks, streams, *arrays)
    outputs = policy((torch.ones(1, 2),))[0].detach().numpy()
    mean, width = float(outputs[0, 0]), math.exp(outputs[0, 1])
    assert float(policy.free_outputs.detach().exp()[0]) == pytest.approx(width)
    assert rollout.choices.mean() == pytest.approx(mean, abs=5 * width / math.sqrt(5000))
    assert rollout.choices.std() == pytest.approx(math.sqrt(2) * width, rel=0.05)
    assert type(policy.actions) is Laplace
    log_probs, values = network.evaluate(rollout, policy.initial_state(5000))
    np.testing.assert_allclose(log_probs, rollout.log_probs, atol=1e-5)
    np.testing.assert_allclose(values[0], rollout.values[0], atol=1e-6)
    likeliest = np.empty((1, 1), np.float32)
    policy.actions.mode(outputs, no_masks, likeliest)
    assert likeliest == mean
    network.close()


@pytest.mark.usefixtures("laplace")
def test_a_new_distribution_learns_with_ppo() -> None:
    def aim(policy: Policy) -> float:
        return float(policy((torch.ones(1, 2),))[0].detach()[0, 0])

    envs = SyncVectorEnv([Aim] * 32, autoreset_mode=AutoresetMode.SAME_STEP)
    config = PPOConfig(steps=32 * 16, rollout=16, threads=1, policy=PolicyConfig(hidden=(8,)))
    once = train(config, envs)
    assert once.updates == 1
    assert once.compute == "autograd"
    assert once.metrics["train/grad_norm"] > 0
    longer = train(PPOConfig(**{**vars(config), "steps": 20 * 32 * 16, "learning_rate": 0.01}), envs)
    assert abs(aim(longer.policy) - 0.5) < 0.15
    assert longer.metrics["train/entropy"] < once.metrics["train/entropy"]
    with pytest.raises(UserError, match="cannot be masked"):
        train(PPOConfig(**{**vars(config), "action_masks": True}), envs)
