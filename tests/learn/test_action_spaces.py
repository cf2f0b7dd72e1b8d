"""All learners learn continuous actions; PPO learns actions in several parts, with masks."""

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from garrison import vector
from garrison.learn import PolicyConfig, PPOConfig, a3c, impala, train
from garrison.learn.collectors import make_collector
from garrison.learn.config import A3CConfig, ImpalaConfig
from garrison.learn.nn.network import make_network
from garrison.learn.nn.policy import Policy
from garrison.learn.rollout import Rollout
from garrison.learn.spaces.registry import action_distribution
from garrison.learn.stopwatch import Stopwatch
from tests.helpers.learning import Log, random_policy, same
from tests.helpers.steering_env import PARTS, WHEEL, SteeringEnv, ToolboxEnv

POLICY = PolicyConfig(hidden=(16,), log_std_init=-1.0)
SQUASHED = PolicyConfig(hidden=(16,), log_std_init=-1.0, continuous_actions="squashed")
BARE: dict[str, Any] = {"rollout": 10, "gamma": 0.0, "entropy_coef": 0.0, "learning_rate": 0.01, "policy": POLICY}


def make_toolboxes(num_envs: int) -> SyncVectorEnv:
    return SyncVectorEnv([ToolboxEnv] * num_envs, autoreset_mode=AutoresetMode.SAME_STEP)


def error_of(policy: Policy) -> float:
    """Return the mean squared distance of the likeliest action from the right one; 0.28 for one that does nothing."""
    shown = np.random.default_rng(0).uniform(-1, 1, (500, 3)).astype(np.float32)
    with torch.inference_mode():
        outputs = policy((torch.from_numpy(shown),))[0].numpy()
    choices = np.empty((500, 2), np.float32)
    policy.actions.mode(outputs, np.ones((0, 0), np.bool_), choices)
    return float(((policy.actions.to_env(choices) - shown @ WHEEL) ** 2).sum(1).mean())


@pytest.mark.parametrize("policy", [POLICY, SQUASHED], ids=["gaussian", "squashed"])
def test_ppo_learns_continuous_actions(policy: PolicyConfig) -> None:
    config = PPOConfig(steps=6400, threads=1, epochs=4, minibatches=4, **{**BARE, "policy": policy})
    result = train(config, SteeringEnv(64))
    assert result.compute == "autograd"
    assert error_of(result.policy) < 0.03
    free = result.policy.free_outputs
    assert free is not None
    assert (free.detach() < -1.0).all()  # the deviations are learned: here less of it pays


def test_impala_learns_continuous_actions() -> None:
    config = ImpalaConfig(steps=9600, threads=1, actors=0, epochs=2, minibatches=4, **BARE)
    assert error_of(impala.train(config, SteeringEnv, 64).policy) < 0.05


def test_a3c_learns_continuous_actions() -> None:
    config = A3CConfig(steps=12_800, actors=1, normalise_advantages="batch", **BARE)
    assert error_of(a3c.train(config, SteeringEnv, 32).policy) < 0.1


def test_a_memory_may_stand_before_continuous_actions() -> None:
    policy = PolicyConfig(hidden=(8,), recurrent_size=8)
    result = train(PPOConfig(steps=640, threads=1, **{**BARE, "policy": policy}), SteeringEnv(16))
    assert result.metrics["train/grad_norm"] > 0


def test_stopping_and_resuming_changes_no_bit_of_the_draws() -> None:
    """The environments begin anew, but the streams of the actions and the weights go on."""
    config = PPOConfig(steps=1280, threads=1, **BARE)
    part = train(config, SteeringEnv(16), run=Log(updates=2))
    runs = [train(config, SteeringEnv(16), resume=part.state).state for _ in range(2)]
    assert same(runs[0], runs[1])
    assert not torch.equal(part.state["collector"]["streams"], runs[0]["collector"]["streams"])


def test_ppo_learns_actions_in_parts_with_masks() -> None:
    config = PPOConfig(steps=4800, threads=1, action_masks=True, **{**BARE, "rollout": 30})
    result = train(config, make_toolboxes(16))
    assert result.policy.actions.space == PARTS
    reached = result.metrics["rollout/ep_reward_mean"]
    assert reached > 5 * 3.0  # of 5 * 4; chance gives about 5 * 1.6


def test_whoever_is_ready_draws_the_same_actions_in_parts_as_all_together() -> None:
    def collected(backend: str) -> Rollout:
        envs: Any = vector.make(ToolboxEnv, 6, backend, autoreset_mode="SameStep")
        policy = random_policy(envs.single_observation_space, envs.single_action_space, hidden=(8,))
        collector = make_collector(envs, make_network(policy, 6, "auto", 1), seed=5, masked=True)
        collector.reset(seed=11)
        rollout = Rollout.allocate(12, 6, policy.observations, policy.actions, masked=True)
        collector.collect(rollout, Stopwatch())
        envs.close()
        return rollout

    together, ready = collected("serial"), collected("async")
    ours, theirs = (action_distribution(PARTS).to_env(each.flat_choices()) for each in (together, ready))
    np.testing.assert_allclose(ours["aim"], theirs["aim"], atol=1e-5)  # batches of other sizes round differently
    assert np.array_equal(ours["switches"], theirs["switches"])
    assert all(map(np.array_equal, ours["tools"], theirs["tools"]))
    assert np.array_equal(together.masks, ready.masks)
    assert not together.masks[..., 5].any()  # as ToolboxEnv says: one value of a tool is forbidden
    np.testing.assert_allclose(together.log_probs, ready.log_probs, atol=1e-5)


def test_actions_in_parts_pass_through_the_memory_that_actors_share() -> None:
    config = ImpalaConfig(steps=480, threads=1, actors=1, action_masks=True, **BARE)
    result = impala.train(config, make_toolboxes, 8)
    assert result.metrics["train/grad_norm"] > 0
    assert 0 <= result.metrics["train/approx_kl"] < 0.5  # what the actor stored is what the learner judges
