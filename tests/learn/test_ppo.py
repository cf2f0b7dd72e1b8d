"""The trainer: repeatable, resumable bit for bit, honest about endings, loud when it diverges."""

import io
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from garrison.cage2 import VectorEnv
from garrison.errors import UserError
from garrison.learn import Diverged, PolicyConfig, PPOConfig, train
from garrison.learn.collector import Collector
from garrison.learn.nn.autograd import AutogradNetwork
from garrison.learn.nn.policy import Policy
from garrison.learn.rollout import Rollout
from garrison.learn.stages import SYNCHRONOUS
from garrison.learn.stopwatch import Stopwatch
from tests.helpers.bits_env import BitsEnv
from tests.helpers.learning import Log, same
from tests.helpers.mixed_env import LENGTH, MixedEnvs

SMALL = {"rollout": 25, "minibatches": 4, "policy": PolicyConfig(hidden=(16,))}


CONFIGS = {
    "compiled": PPOConfig(steps=4000, compute="compiled", **SMALL),
    "autograd": PPOConfig(steps=4000, compute="autograd", threads=1, **SMALL),
    "gru": PPOConfig(steps=4000, rollout=25, threads=1, policy=PolicyConfig(hidden=(16,), recurrent_size=8)),
    "scheduled": PPOConfig(
        steps=4000, entropy_schedule="linear", target_kl=0.001, value_clip=0.2, normalise_advantages="batch", **SMALL
    ),
}


def through_a_file(state: dict[str, Any]) -> dict[str, Any]:
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    loaded: dict[str, Any] = torch.load(file, weights_only=True)
    return loaded


@pytest.mark.parametrize("name", CONFIGS)
def test_stopping_and_resuming_changes_no_bit(name: str) -> None:
    config = CONFIGS[name]
    whole = train(config, BitsEnv(20))
    part = train(config, BitsEnv(20), run=Log(updates=4))
    assert part.steps == 2000
    rest = train(config, BitsEnv(20), resume=through_a_file(part.state))
    assert rest.exact_resume
    assert rest.steps == whole.steps == 4000
    assert same(rest.state, whole.state)
    assert not torch.equal(whole.policy.flat, part.policy.flat)


EVERYTHING = PolicyConfig(
    hidden=(16,), recurrent_size=8, trunk="encoder", normalise_observations=True, critic_extras=("answer",)
)
"""Convolutions, a GRU, normalisation, and a critic that sees more."""


def test_resuming_with_everything_at_once_changes_no_bit() -> None:
    """Pictures in a dictionary, convolutions, a GRU, action masks, normalised observations and returns, extras."""
    config = PPOConfig(
        steps=1600, rollout=20, minibatches=2, action_masks=True, normalise_returns=True, threads=1, policy=EVERYTHING
    )
    whole = train(config, MixedEnvs(10))
    part = train(config, MixedEnvs(10), run=Log(updates=4))
    assert 0 < part.steps < whole.steps
    rest = train(config, MixedEnvs(10), resume=through_a_file(part.state))
    assert rest.exact_resume
    assert same(rest.state, whole.state)
    assert whole.policy.normaliser is not None
    assert float(whole.policy.normaliser.count) == whole.steps


@pytest.mark.long
def test_a_gru_behind_convolutions_learns_with_action_masks() -> None:
    config = PPOConfig(
        steps=6000,
        rollout=16,
        minibatches=4,
        learning_rate=2e-3,
        gamma=0.0,
        action_masks=True,
        normalise_returns=True,
        threads=1,
        policy=replace(EVERYTHING, trunk="separate"),
    )
    result = train(config, MixedEnvs(16))
    assert result.metrics["rollout/ep_reward_mean"] > 0.8 * 50 * LENGTH  # the masks alone leave one in three


def test_resuming_on_native_cage2_changes_no_bit() -> None:
    config = PPOConfig(steps=4000, action_masks=True, **SMALL)
    whole = train(config, VectorEnv(20, length=30, autoreset_mode=AutoresetMode.SAME_STEP))
    part = train(config, VectorEnv(20, length=30, autoreset_mode=AutoresetMode.SAME_STEP), run=Log(updates=4))
    resumed = VectorEnv(20, length=30, autoreset_mode=AutoresetMode.SAME_STEP)
    rest = train(config, resumed, resume=through_a_file(part.state))
    assert same(rest.state, whole.state)


def test_the_same_seed_gives_the_same_result_and_another_does_not() -> None:
    results = [train(PPOConfig(steps=1000, seed=seed, **SMALL), BitsEnv(20)).state for seed in (1, 1, 2)]
    assert same(results[0], results[1])
    assert not torch.equal(results[0]["weights"], results[2]["weights"])


def test_threads_change_results_only_by_rounding() -> None:
    weights = [train(PPOConfig(steps=8000, threads=n, **SMALL), BitsEnv(320)).policy.flat for n in (1, 2)]
    torch.testing.assert_close(weights[0], weights[1], rtol=1e-3, atol=1e-4)


def test_environments_without_states_resume_with_new_episodes() -> None:
    def envs() -> SyncVectorEnv:
        return SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * 2)

    part = train(PPOConfig(steps=200, **SMALL), envs(), run=Log(updates=1))
    rest = train(PPOConfig(steps=200, **SMALL), envs(), resume=part.state)
    assert not rest.exact_resume
    assert rest.steps >= 200


def test_metrics_have_their_final_names_and_time_adds_up() -> None:
    log = Log()
    result = train(PPOConfig(steps=1000, **SMALL), BitsEnv(20, length=10), run=log)
    assert log.steps == [500, 1000]
    assert len(log.states) == 1
    wanted = {f"time_split/{stage}" for stage in SYNCHRONOUS} | {
        *("time/fps", "train/learning_rate", "rollout/ep_reward_mean", "rollout/ep_length_mean"),
        *("train/policy_loss", "train/value_loss", "train/entropy", "train/approx_kl", "train/clip_fraction"),
        *("train/grad_norm", "train/explained_variance", "train/entropy_coef", "train/epochs", "rollout/episodes"),
    }
    assert set(log.metrics[-1]) == wanted
    assert all(type(value) in (int, float) for value in log.metrics[-1].values())
    assert log.metrics[0]["train/learning_rate"] > log.metrics[1]["train/learning_rate"] > 0
    assert 9 < log.metrics[1]["rollout/ep_length_mean"] <= 10  # the first episodes are cut, the others have 10 steps
    assert sum(result.times.values()) <= result.seconds


def test_torch_threads_are_put_back() -> None:
    before = torch.get_num_threads()
    train(PPOConfig(steps=100, threads=1, **SMALL), BitsEnv(4))
    assert torch.get_num_threads() == before


class Countdown(gymnasium.Env[Any, Any]):
    """Shows how many steps are left; pays 1 a step; ends by termination or truncation."""

    observation_space = spaces.Box(0, 10, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, length: int, terminates: bool) -> None:
        self.length, self.terminates = length, terminates

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.left = self.length
        return np.array([self.left], np.float32), {}

    def step(self, action: Any) -> Any:
        self.left -= 1
        over = self.left == 0
        return np.array([self.left], np.float32), 1.0, over and self.terminates, over and not self.terminates, {}


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_endings_are_collected_right_in_every_autoreset_mode(mode: AutoresetMode) -> None:
    envs = SyncVectorEnv([lambda: Countdown(3, False), lambda: Countdown(2, True)], autoreset_mode=mode)
    policy = Policy(envs.single_observation_space, envs.single_action_space)
    network = AutogradNetwork(policy, 2, 1)
    collector = Collector(envs, network, seed=0, masked=False)
    collector.reset(seed=0)
    rollout = Rollout.allocate(9, 2, policy.observations, policy.actions, masked=False)
    returns, lengths = collector.collect(rollout, Stopwatch())
    value_at_zero = network.values(np.zeros((1, 1), np.float32), np.array([0]))[0]
    seen = rollout.observations[:-1, :, 0]
    if mode == AutoresetMode.SAME_STEP:
        assert seen.T.tolist() == [[3, 2, 1] * 3, [2, 1, 2, 1, 2, 1, 2, 1, 2]]
        assert rollout.counted.all()
        assert sorted(lengths) == [2, 2, 2, 2, 3, 3, 3]
    else:
        assert seen.T.tolist() == [[3, 2, 1, 0, 3, 2, 1, 0, 3], [2, 1, 0] * 3]
        assert np.array_equal(rollout.counted, seen != 0)
        assert sorted(lengths) == [2, 2, 2, 3, 3]
    assert returns == [float(length) for length in lengths]
    assert np.array_equal(rollout.starts[:, 0], seen[:, 0] == 3)
    assert np.array_equal(rollout.truncations[:, 0], seen[:, 0] == 1)
    assert np.array_equal(rollout.terminations[:, 1], seen[:, 1] == 1)
    np.testing.assert_allclose(rollout.final_values[rollout.truncations], value_at_zero, atol=1e-6)


class Poisoned(BitsEnv):
    """Pays NaN from some step on."""

    def step(self, actions: Any) -> Any:
        shown, rewards, terminations, truncations, infos = super().step(actions)
        rewards[2] = np.nan if self.draws == 60 else rewards[2]
        return shown, rewards, terminations, truncations, infos


def test_a_reward_that_is_not_finite_is_named_with_its_place() -> None:
    log = Log()
    with pytest.raises(
        Diverged, match=r"rewards are not finite while collecting for update 3: .*step 8.*environment 2"
    ):
        train(PPOConfig(steps=4000, **SMALL), Poisoned(20), run=log)
    assert log.states[-1]["updates"] == 2
    assert torch.isfinite(log.states[-1]["weights"]).all()


@pytest.mark.parametrize("compute", ["compiled", "autograd"])
def test_a_loss_that_is_not_finite_stops_with_the_last_good_state(compute: str) -> None:
    log = Log()
    config = PPOConfig(steps=4000, learning_rate=1e30, max_grad_norm=0.0, compute=compute, threads=1, **SMALL)
    with pytest.raises(Diverged, match="not finite since update 1, epoch 1, minibatch 2") as caught:
        train(config, BitsEnv(20), run=log)
    fresh = Policy(BitsEnv(20).single_observation_space, BitsEnv(20).single_action_space, config.policy, seed=0)
    assert torch.equal(caught.value.state["weights"], fresh.flat)
    assert caught.value.state["adam"]["steps"] == 0
    assert same(log.states[-1], caught.value.state)


def test_a_large_divergence_ends_the_update_early() -> None:
    log = Log()
    train(PPOConfig(steps=500, learning_rate=0.05, target_kl=0.01, epochs=10, **SMALL), BitsEnv(20), run=log)
    assert log.metrics[0]["train/epochs"] < 10


def test_reward_scale_changes_learning_but_not_the_reported_return() -> None:
    plain, scaled = Log(), Log()
    train(PPOConfig(steps=2000, **SMALL), BitsEnv(20, length=10), run=plain)
    train(PPOConfig(steps=2000, reward_scale=0.1, **SMALL), BitsEnv(20, length=10), run=scaled)
    assert plain.metrics[0]["rollout/ep_reward_mean"] == scaled.metrics[0]["rollout/ep_reward_mean"]
    assert scaled.metrics[0]["train/value_loss"] < plain.metrics[0]["train/value_loss"]


def test_masked_actions_are_never_taken() -> None:
    class Masked(BitsEnv):
        def action_masks(self) -> Any:
            return (np.arange(145) + self.draws) % 2 == 0

        def step(self, actions: Any) -> Any:
            assert ((actions + self.draws) % 2 == 0).all()
            return super().step(actions)

    class Batched(Masked):
        def action_masks(self) -> Any:
            return np.tile(super().action_masks(), (self.num_envs, 1))

    for compute in ("compiled", "autograd"):
        train(PPOConfig(steps=1000, action_masks=True, compute=compute, threads=1, **SMALL), Batched(20))
    with pytest.raises(UserError, match="neither an action_masks"):
        train(PPOConfig(steps=1000, action_masks=True, **SMALL), BitsEnv(20))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "steps cannot be 0"),
        ({"gamma": 1.5}, "gamma cannot be 1.5"),
        ({"learning_rate_schedule": "linaer"}, "did you mean 'linear'"),
        ({"compute": "compield"}, "did you mean 'compiled'"),
        ({"device": "cdua"}, "did you mean 'cuda'"),
        ({"reward_scale": 0.0}, "reward_scale cannot be 0"),
        ({"compute": "compiled", "policy": PolicyConfig(recurrent_size=8)}, "a GRU needs autograd"),
    ],
)
def test_wrong_settings_are_refused_before_work_starts(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        PPOConfig(**changes)


def test_a_foreign_state_is_refused() -> None:
    state = train(PPOConfig(steps=500, **SMALL), BitsEnv(20)).state
    with pytest.raises(UserError, match="this policy has"):
        train(PPOConfig(steps=1000, rollout=25), BitsEnv(20), resume=state)
    with pytest.raises(UserError, match="algorithm 'impala'"):
        train(PPOConfig(steps=1000, **SMALL), BitsEnv(20), resume=state | {"algorithm": "impala"})
    with pytest.raises(UserError, match="20 environments"):
        train(PPOConfig(steps=1000, **SMALL), BitsEnv(10), resume=state)


def test_environments_that_do_not_reset_are_refused() -> None:
    envs = SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")], autoreset_mode=AutoresetMode.DISABLED)
    with pytest.raises(UserError, match="SAME_STEP or NEXT_STEP"):
        train(PPOConfig(steps=100, **SMALL), envs)


def test_training_starts_from_given_weights() -> None:
    config = PPOConfig(**{**SMALL, "steps": 1000})  # type: ignore[arg-type]
    first = train(config, BitsEnv())
    again = train(config, BitsEnv(), run=Log(updates=0), weights=first.policy.flat)
    assert torch.equal(again.policy.flat, first.policy.flat)
    assert again.policy.flat is not first.policy.flat
    with pytest.raises(UserError, match=r"cannot start: the state holds 3 weights"):
        train(config, BitsEnv(), weights=torch.zeros(3))
