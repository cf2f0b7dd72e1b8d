"""A critic that sees more than the actor: what it is given, that the actor is not, and what a shipped agent keeps."""

from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces

from garrison import vector
from garrison.agents.forward import PlainNetwork, TorchNetwork, network_of
from garrison.cage2 import VectorEnv
from garrison.errors import UserError
from garrison.learn import A3CConfig, ImpalaConfig, PolicyConfig, PPOConfig, train
from garrison.learn.collectors import make_collector
from garrison.learn.config import LearnerConfig
from garrison.learn.envs import extras_space, policy_of
from garrison.learn.nn.description import describe_policy
from garrison.learn.nn.loss import Terms
from garrison.learn.nn.network import make_network
from garrison.learn.rollout import Rollout, TrainingBatch
from garrison.learn.stopwatch import Stopwatch

SEES = PolicyConfig(hidden=(16,), critic_extras=("access", "malware"))


def cage2(num_envs: int) -> Any:
    return VectorEnv(num_envs, length=7, autoreset_mode="NextStep", copy=False)


class Hidden(gymnasium.Env[Any, Any]):
    """Shows nothing; what comes is published as an extra. Ends after five steps."""

    observation_space = spaces.Box(0, 1, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self) -> None:
        self.extras = {"coming": np.zeros(2, np.float32), "is_late": np.zeros((), np.bool_)}

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._time = 0
        return self._show(), {}

    def step(self, action: Any) -> Any:
        reward = float(self.extras["coming"][0])
        self._time += 1
        return self._show(), reward, False, self._time == 5, {}

    def _show(self) -> Any:
        self.extras["coming"][:] = self.np_random.normal(size=2)
        self.extras["is_late"][...] = self._time > 2
        return np.zeros(1, np.float32)


def hidden(num_envs: int, backend: str = "serial") -> Any:
    names = ("coming", "is_late")
    return vector.make(Hidden, num_envs, backend, extras=names, autoreset_mode="NextStep", copy=False, workers=2)


def collected(make: Any, config: PolicyConfig, steps: int, compute: str = "auto") -> tuple[Any, Rollout]:
    envs = make(4)
    network = make_network(policy_of(envs, config, seed=1), 4, compute, 1)
    policy = network.policy
    policy.flat.add_(0.2 * torch.randn(len(policy.flat), generator=torch.Generator().manual_seed(2)))
    collector = make_collector(envs, network, 3, masked=False)
    collector.reset(3)
    rollout = Rollout.allocate(steps, 4, policy.observations, policy.actions, masked=False)
    collector.collect(rollout, Stopwatch())
    envs.close()
    return network, rollout


def test_the_critic_sees_the_extras_of_the_same_moment_and_the_actor_does_not() -> None:
    network, rollout = collected(cage2, SEES, 20)
    policy = network.policy
    assert network.compute == "compiled"
    assert policy.critic.layers[0].in_features == 52 + 2 * 13
    assert policy.actor.layers[0].in_features == 52
    envs = cage2(4)
    shown, _ = envs.reset(seed=3)
    for t in range(20):
        seen = policy.observations.tensors(rollout.observations[t], np.arange(4), torch.device("cpu"))
        np.testing.assert_array_equal(seen[0], shown)
        np.testing.assert_array_equal(seen[1], envs.truth.access)
        np.testing.assert_array_equal(seen[2], envs.truth.malware)
        outputs, values, _ = policy(seen)
        torch.testing.assert_close(values.detach(), torch.from_numpy(rollout.values[t]), rtol=1e-4, atol=1e-5)
        others = (seen[0], seen[1] + 1, seen[2] + 1)
        assert torch.equal(policy(others)[0], outputs)
        assert not torch.equal(policy(others)[1], values)
        shown = envs.step(policy.actions.to_env(rollout.choices[t]))[0]


@pytest.mark.parametrize("hidden_layers", [(), (16, 8)])
def test_compiled_and_autograd_agree(hidden_layers: tuple[int, ...]) -> None:
    config = PolicyConfig(hidden=hidden_layers, critic_extras=("access", "malware"))
    (first, rollout), (second, other) = (collected(cage2, config, 12, compute) for compute in ("compiled", "autograd"))
    np.testing.assert_array_equal(rollout.choices, other.choices)
    np.testing.assert_allclose(rollout.values, other.values, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(rollout.last_values, other.last_values, rtol=1e-4, atol=1e-5)
    batch = TrainingBatch.of(rollout, np.ones_like(rollout.values), first.recurrent_state)
    for network in (first, second):
        network.gradient(batch, np.arange(48), Terms(0.2, 0.0, 0.5, 0.01))
    torch.testing.assert_close(first.gradients, second.gradients, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("backend", ["serial", "shared", "async"])
def test_any_environment_that_publishes_extras_can_use_them(backend: str) -> None:
    config = PolicyConfig(hidden=(8,), critic_extras=("coming", "is_late"))
    network, rollout = collected(partial(hidden, backend=backend), config, 13)
    _, reference = collected(hidden, config, 13)
    np.testing.assert_array_equal(rollout.observations, reference.observations)
    rows = rollout.flat_observations()[: 13 * 4]
    _, coming, is_late = network.policy.observations.tensors(rows, np.arange(13 * 4), torch.device("cpu"))
    counted = rollout.counted.reshape(-1)
    np.testing.assert_allclose(coming.numpy()[counted, 0], rollout.rewards.reshape(-1)[counted], rtol=1e-6)
    assert set(is_late.flatten().tolist()) == {0.0, 1.0}


LEARNERS: list[LearnerConfig] = [
    PPOConfig(steps=6000, rollout=20, gamma=0.0, learning_rate=1e-2, threads=1),
    ImpalaConfig(steps=6000, rollout=20, gamma=0.0, learning_rate=1e-2, threads=1, actors=0, epochs=4, minibatches=4),
    A3CConfig(steps=16000, rollout=20, gamma=0.0, learning_rate=1e-2, actors=1),
]


@pytest.mark.parametrize("config", LEARNERS, ids=lambda config: type(config).__name__)
def test_every_learner_learns_values_that_only_extras_tell(config: LearnerConfig) -> None:
    explained = {}
    for extras in ((), ("coming", "is_late")):
        chosen = replace(config, policy=PolicyConfig(hidden=(16,), critic_extras=extras))
        explained[extras] = train(chosen, hidden, 16).metrics["train/explained_variance"]
    assert explained[()] < 0.2
    assert explained[("coming", "is_late")] > 0.6


@pytest.mark.parametrize("recurrent_size", [0, 4])
def test_an_agent_plays_from_the_observation_alone(recurrent_size: int) -> None:
    config = PolicyConfig(hidden=(16,), critic_extras=("access",), recurrent_size=recurrent_size)
    envs = cage2(4)
    policy = policy_of(envs, config, seed=5)
    description = describe_policy(
        config, envs.single_observation_space, envs.single_action_space, extras_space(envs, config.critic_extras)
    )
    network = network_of(description, policy.flat.numpy())
    assert isinstance(network, TorchNetwork if recurrent_size else PlainNetwork)
    assert network.size == 52
    shown, _ = envs.reset(seed=0)
    network.begin(4)
    logits = network.logits(shown.astype(np.float32), np.ones(4, np.bool_))
    seen = (torch.from_numpy(shown.astype(np.float32)), torch.from_numpy(envs.truth.access.astype(np.float32)))
    starts = torch.ones(1, 4, dtype=torch.bool)
    expected = policy(seen, policy.initial_state(4), starts) if recurrent_size else policy(seen)
    np.testing.assert_allclose(logits, expected[0].detach(), rtol=1e-4, atol=1e-6)


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(UserError, match="a critic with extras needs layers of its own"):
        PolicyConfig(critic_extras=("access",), trunk="shared")
    with pytest.raises(UserError, match=r"critic_extras names 'acess', which .* do not publish; there are: access, "):
        train(PPOConfig(policy=PolicyConfig(critic_extras=("acess",))), cage2(4))
    same_step = VectorEnv(4, autoreset_mode="SameStep")
    with pytest.raises(UserError, match="autoreset mode NEXT_STEP"):
        train(PPOConfig(policy=SEES), same_step)
