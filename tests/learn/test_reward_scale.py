"""Scaling of rewards before learning, against a plain reference."""

import numpy as np
import pytest
from gymnasium import spaces

from garrison.learn.config import PPOConfig
from garrison.learn.reward_scale import LIMIT, RewardScale
from garrison.learn.rollout import Rollout
from garrison.learn.spaces.registry import action_distribution, observation_form


def rollout_of(rewards: np.ndarray, starts: np.ndarray) -> Rollout:
    spaces_ = observation_form(spaces.Discrete(2)), action_distribution(spaces.Discrete(2))
    rollout = Rollout.allocate(*rewards.shape, *spaces_, masked=False)
    rollout.rewards[:], rollout.starts[:] = rewards, starts
    return rollout


def test_without_normalisation_only_the_factor_counts() -> None:
    scale = RewardScale(PPOConfig(reward_scale=0.5))
    rewards = np.array([[3.0, -1000.0]], np.float32)
    scale.observe(rollout_of(rewards, np.zeros((1, 2), bool)))
    assert scale(rewards).tolist() == [[1.5, -500.0]]
    assert scale.state() == {}


def test_rewards_are_divided_by_the_deviation_of_discounted_returns() -> None:
    rng = np.random.default_rng(0)
    rewards = rng.normal(3.0, 20.0, (60, 4)).astype(np.float32)
    starts = rng.random((60, 4)) < 0.1
    starts[0] = True
    discounted, seen = np.zeros(4), []
    for t in range(60):
        discounted = rewards[t] + 0.9 * np.where(starts[t], 0.0, discounted)
        seen.append(discounted)
    scale, pieces = (
        RewardScale(PPOConfig(gamma=0.9, normalise_returns=True)),
        RewardScale(PPOConfig(gamma=0.9, normalise_returns=True)),
    )
    scale.observe(rollout_of(rewards, starts))
    for part in (slice(0, 7), slice(7, 40), slice(40, 60)):  # what was gathered before is not forgotten
        pieces.observe(rollout_of(rewards[part], starts[part]))
    expected = rewards / np.std(seen)
    np.testing.assert_allclose(scale(rewards), np.clip(expected, -LIMIT, LIMIT), rtol=1e-5)
    np.testing.assert_allclose(pieces(rewards), scale(rewards), rtol=1e-5)
    assert scale(np.array([1e9], np.float32)).tolist() == [LIMIT]


def test_the_environments_of_each_actor_are_their_own() -> None:
    rng = np.random.default_rng(1)
    rewards = rng.normal(size=(10, 4)).astype(np.float32)
    starts = np.zeros((10, 4), bool)
    whole, split = (RewardScale(PPOConfig(normalise_returns=True)) for _ in range(2))
    for k in range(3):
        rollout = rollout_of(rewards + k, starts)
        whole.observe(rollout)
        for actor in (0, 1):
            split.observe(rollout, slice(2 * actor, 2 * actor + 2), actor)
    np.testing.assert_allclose(whole.moments, split.moments)


def test_steps_that_only_reset_do_not_count_and_a_state_continues() -> None:
    config = PPOConfig(normalise_returns=True)
    scale = RewardScale(config)
    rollout = rollout_of(np.ones((4, 2), np.float32), np.zeros((4, 2), bool))
    rollout.counted[1] = False
    scale.observe(rollout)
    assert scale.moments[0] == 6
    other = RewardScale(config)
    other.restore(scale.state())
    for each in (scale, other):
        each.observe(rollout)
    assert other.moments.tolist() == pytest.approx(scale.moments.tolist(), abs=0)
