"""What compiled code collects from the native batch is what stepping it from Python collects."""

from dataclasses import fields
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.vector import VectorWrapper

from garrison.cage2 import VectorEnv
from garrison.cage2.workflow import Workflow
from garrison.learn import PolicyConfig, PPOConfig, native_collector
from garrison.learn.collector import Collector
from garrison.learn.collectors import make_collector
from garrison.learn.envs import native_steps, policy_of
from garrison.learn.native_collector import NativeCollector
from garrison.learn.nn.network import Network, make_network
from garrison.learn.ppo import train
from garrison.learn.rollout import Rollout
from garrison.learn.stages import COLLECTING
from garrison.learn.stopwatch import Stopwatch
from tests.helpers.learning import same

STEPS, N = 23, 40
LENGTHS = [5 + i % 9 for i in range(N)]
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "memory": {"observation": "memory"},
    "compact": {"actions": "compact"},
    "mixture": {"red": {"bline": 0.5, "meander": 0.5}},
    "workflow": {"workflow": Workflow()},
    "copying": {"copy": True, "threads": 2},
}
"""Batches that differ in what they show, take, draw or pay."""


def network_of(envs: Any, threads: int = 1, compute: str = "auto") -> Network:
    torch.set_num_threads(1)  # as networks do: with more, the first policy's weights are rounded otherwise
    return make_network(policy_of(envs, PolicyConfig(hidden=(32, 16)), seed=3), envs.num_envs, compute, threads)


def play(collector: Collector, rollouts: int = 2) -> list[Any]:
    """Return everything that some rollouts hold and leave behind."""
    policy, masked = collector.network.policy, collector.masked
    found: list[Any] = []
    collector.reset(seed=11)
    for _ in range(rollouts):
        rollout = Rollout.allocate(STEPS, collector.envs.num_envs, policy.observations, policy.actions, masked)
        episodes = collector.collect(rollout, Stopwatch())
        rollout.final_values[~rollout.truncations] = 0.0  # nobody reads them, and they differ
        found += [episodes, {field.name: getattr(rollout, field.name) for field in fields(rollout)}, collector.state()]
    collector.network.close()
    return found


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_it_collects_what_stepping_from_python_collects(kind: str, masked: bool, mode: str) -> None:
    def collector(choose: Any) -> Collector:
        envs = VectorEnv(N, length=LENGTHS, autoreset_mode=mode, **KINDS[kind])
        chosen: Collector = choose(envs, network_of(envs), 5, masked)
        return chosen

    native = collector(make_collector)
    assert type(native) is NativeCollector
    expected, found = play(collector(Collector)), play(native)
    assert same(found, expected)
    returns, lengths = expected[0]
    assert len(returns) > N
    assert set(lengths) == set(LENGTHS)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_no_more_than_rounding(threads: int) -> None:
    def found(count: int) -> list[Any]:
        envs = VectorEnv(N, length=LENGTHS, autoreset_mode="SameStep")
        return play(make_collector(envs, network_of(envs, count), 5, masked=True))

    for one, several in zip(found(1), found(threads), strict=True):
        if isinstance(one, dict) and "choices" in one:
            for name, array in one.items():
                np.testing.assert_allclose(several[name], array, rtol=1e-4, atol=1e-5, err_msg=name)


def test_calls_in_pieces_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> list[Any]:
        envs = VectorEnv(N, length=LENGTHS, autoreset_mode="SameStep")
        return play(make_collector(envs, network_of(envs), 5, masked=False))

    whole = found()
    monkeypatch.setattr(native_collector, "STEPS_PER_CALL", 4 * N)
    assert same(found(), whole)


class Halved(VectorEnv):
    """Pays half, and is a batch of its own."""

    def step(self, actions: Any) -> Any:
        observations, rewards, *rest = super().step(actions)
        return observations, rewards / 2, *rest


class Wrapped(VectorWrapper):
    """Pays half, and passes on what it does not have, as wrappers often do."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)

    def step(self, actions: Any) -> Any:
        observations, rewards, *rest = self.env.step(actions)
        return observations, rewards / 2, *rest


def halved() -> Any:
    return Halved(8, length=7, autoreset_mode="SameStep")


def wrapped() -> Any:
    return Wrapped(VectorEnv(8, length=7, autoreset_mode="SameStep"))


def patched() -> Any:
    envs: Any = VectorEnv(8, length=7, autoreset_mode="SameStep")
    step = envs.step

    def halve(actions: Any) -> Any:
        observations, rewards, *rest = step(actions)
        return observations, rewards / 2, *rest

    envs.step = halve
    return envs


class Strict(VectorEnv):
    """Allows Sleep only."""

    def action_masks(self, by_truth: bool = False) -> Any:
        masks = super().action_masks(by_truth)
        masks[:, 1:] = False
        return masks


def test_masks_of_ones_own_are_asked_for() -> None:
    envs = Strict(8, length=7, autoreset_mode="SameStep")
    network = network_of(envs)
    collector = make_collector(envs, network, 5, masked=True)
    collector.reset(seed=2)
    rollout = Rollout.allocate(20, 8, network.policy.observations, network.policy.actions, masked=True)
    collector.collect(rollout, Stopwatch())
    network.close()
    assert not rollout.choices.any()


@pytest.mark.parametrize("make", [halved, wrapped, patched])
def test_nobody_who_changes_a_step_is_stepped_past(make: Any) -> None:
    envs = make()
    assert hasattr(envs, "native_steps")
    assert native_steps(envs) is None
    plain = VectorEnv(8, length=7, autoreset_mode="SameStep")
    rewards = []
    for batch in (envs, plain):
        network = network_of(batch)
        collector = make_collector(batch, network, 5, masked=False)
        collector.reset(seed=2)
        rollout = Rollout.allocate(20, 8, network.policy.observations, network.policy.actions, masked=False)
        collector.collect(rollout, Stopwatch())
        rewards.append(rollout.rewards)
        network.close()
    assert rewards[1].any()
    assert np.array_equal(2 * rewards[0], rewards[1])


def test_a_step_that_is_replaced_for_all_batches_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    envs = VectorEnv(2)
    assert native_steps(envs) is not None
    monkeypatch.setattr(VectorEnv, "step", Halved.step)
    assert native_steps(envs) is None


@pytest.mark.parametrize("options", [{"source": "cyborg"}, {"red": "external"}], ids=str)
def test_batches_that_need_python_have_no_native_steps(options: dict[str, Any]) -> None:
    assert native_steps(VectorEnv(2, **options)) is None


def test_other_networks_step_from_python() -> None:
    envs = VectorEnv(4, autoreset_mode="SameStep")
    assert type(make_collector(envs, network_of(envs, compute="autograd"), 0, masked=False)) is Collector
    cartpoles = gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="sync")
    assert type(make_collector(cartpoles, network_of(cartpoles), 0, masked=False)) is Collector


def test_its_time_is_divided_among_the_stages() -> None:
    envs = VectorEnv(N, length=7, autoreset_mode="SameStep")
    collector = make_collector(envs, network_of(envs), 5, masked=False)
    collector.reset(seed=0)
    policy, calls, watch = collector.network.policy, [], Stopwatch()
    collector.on_first_step = lambda: calls.append(int(envs.get_state()["t"].max()))
    rollout = Rollout.allocate(STEPS, N, policy.observations, policy.actions, masked=False)
    collector.collect(rollout, watch)
    collector.collect(rollout, watch)
    collector.network.close()
    assert calls == [1]
    assert all(watch.totals[stage] > 0 for stage in COLLECTING)


def test_threads_train_the_same_every_time() -> None:
    def weights() -> torch.Tensor:
        envs = VectorEnv(N, length=LENGTHS, autoreset_mode="SameStep")
        config = PPOConfig(steps=4 * 16 * N, rollout=16, minibatches=2, threads=2, policy=PolicyConfig(hidden=(16,)))
        return train(config, envs).policy.flat

    assert torch.equal(weights(), weights())
