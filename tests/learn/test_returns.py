"""GAE against its definition."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from garrison.learn.returns import gae


def slow_gae(rewards, values, terminations, truncations, final_values, last_values, gamma, gae_lambda):
    """A_t = sum over k of (gamma lambda)^k delta_{t+k}, until the episode or the rollout ends."""
    steps, num_envs = rewards.shape
    advantages = np.zeros((steps, num_envs))
    for i in range(num_envs):
        for t in range(steps):
            discount = 1.0
            for k in range(t, steps):
                if terminations[k, i]:
                    following = 0.0
                elif truncations[k, i]:
                    following = final_values[k, i]
                else:
                    following = values[k + 1, i] if k + 1 < steps else last_values[i]
                advantages[t, i] += discount * (rewards[k, i] + gamma * following - values[k, i])
                discount *= gamma * gae_lambda
                if terminations[k, i] or truncations[k, i]:
                    break
    return advantages


@settings(max_examples=100, deadline=None)
@given(
    steps=st.integers(1, 12),
    num_envs=st.integers(1, 4),
    gamma=st.floats(0, 1),
    gae_lambda=st.floats(0, 1),
    seed=st.integers(0, 2**32 - 1),
)
def test_gae_equals_its_definition(steps: int, num_envs: int, gamma: float, gae_lambda: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    rewards, values, final_values = random.normal(size=(3, steps, num_envs)).astype(np.float32)
    terminations, truncations = random.random((2, steps, num_envs)) < 0.2
    last_values = random.normal(size=num_envs).astype(np.float32)
    arguments = (rewards, values, terminations, truncations, final_values, last_values, gamma, gae_lambda)
    np.testing.assert_allclose(gae(*arguments), slow_gae(*arguments), rtol=1e-4, atol=1e-4)


def test_lambda_one_without_endings_is_the_discounted_return_less_the_value() -> None:
    rewards = np.array([[1.0], [2.0], [4.0]], np.float32)
    values = np.array([[10.0], [20.0], [30.0]], np.float32)
    none = np.zeros((3, 1), bool)
    advantages = gae(rewards, values, none, none, values, np.array([8.0], np.float32), 0.5, 1.0)
    assert advantages[:, 0].tolist() == [1 + 1 + 1 + 1 - 10, 2 + 2 + 2 - 20, 4 + 4 - 30]


def test_truncation_bootstraps_and_termination_does_not() -> None:
    rewards, values = np.ones((1, 2), np.float32), np.zeros((1, 2), np.float32)
    final_values, last_values = np.full((1, 2), 7.0, np.float32), np.full(2, 100.0, np.float32)
    terminations, truncations = np.array([[True, False]]), np.array([[False, True]])
    advantages = gae(rewards, values, terminations, truncations, final_values, last_values, 1.0, 0.9)
    assert advantages.tolist() == [[1.0, 8.0]]
