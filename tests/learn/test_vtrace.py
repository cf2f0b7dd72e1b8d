"""V-trace against its definition, and what it becomes when actor and learner agree."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from garrison.learn.returns import gae
from garrison.learn.vtrace import vtrace


def slow_vtrace(
    log_ratios, rewards, values, terminations, truncations, final_values, last_values, gamma, rho_bar, c_bar, decay
):
    """Equation 1 of the paper: v_s = V_s + sum over t >= s of gamma^(t-s) (product of c_s .. c_{t-1}) delta_t.

    c_i = decay * min(c_bar, ratio_i), delta_t = min(rho_bar, ratio_t) (r_t + gamma V_{t+1} - V_t); the sum stops where
    an episode or the rollout ends. The advantage is r_s + gamma v_{s+1} - V_s for decay 1.
    """
    steps, num_envs = rewards.shape
    ratios = np.exp(log_ratios.astype(np.float64))
    targets, advantages = np.zeros((2, steps, num_envs))

    def value_after(t, i):
        if terminations[t, i]:
            return 0.0
        if truncations[t, i]:
            return final_values[t, i]
        return values[t + 1, i] if t + 1 < steps else last_values[i]

    for i in range(num_envs):
        for s in range(steps):
            targets[s, i] = values[s, i]
            weight = 1.0
            for t in range(s, steps):
                difference = rewards[t, i] + gamma * value_after(t, i) - values[t, i]
                targets[s, i] += weight * min(rho_bar, ratios[t, i]) * difference
                weight *= gamma * decay * min(c_bar, ratios[t, i])
                if terminations[t, i] or truncations[t, i]:
                    break
    for i in range(num_envs):
        for s in range(steps):
            following = value_after(s, i)
            if s + 1 < steps and not (terminations[s, i] or truncations[s, i]):
                following = decay * targets[s + 1, i] + (1 - decay) * following
            advantages[s, i] = rewards[s, i] + gamma * following - values[s, i]
    return targets, advantages, np.minimum(rho_bar, ratios)


def random_steps(steps: int, num_envs: int, seed: int) -> tuple[Any, ...]:
    random = np.random.default_rng(seed)
    log_ratios, rewards, values, final_values = random.normal(size=(4, steps, num_envs)).astype(np.float32)
    terminations, truncations = random.random((2, steps, num_envs)) < 0.2
    last_values = random.normal(size=num_envs).astype(np.float32)
    return log_ratios, rewards, values, terminations, truncations, final_values, last_values


SIZES = {"steps": st.integers(1, 12), "num_envs": st.integers(1, 4), "seed": st.integers(0, 2**32 - 1)}


@settings(max_examples=100, deadline=None)
@given(
    gamma=st.floats(0, 1), rho_bar=st.floats(0.1, 3), c_bar=st.floats(0.1, 3), vtrace_lambda=st.floats(0, 1), **SIZES
)
def test_vtrace_equals_its_definition(
    steps: int, num_envs: int, seed: int, gamma: float, rho_bar: float, c_bar: float, vtrace_lambda: float
) -> None:
    arguments = (*random_steps(steps, num_envs, seed), gamma, rho_bar, c_bar, vtrace_lambda)
    for fast, slow in zip(vtrace(*arguments), slow_vtrace(*arguments), strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-3, atol=1e-3)


@settings(max_examples=50, deadline=None)
@given(gamma=st.floats(0, 1), vtrace_lambda=st.floats(0, 1), **SIZES)
def test_on_policy_it_is_generalised_advantage_estimation(
    steps: int, num_envs: int, seed: int, gamma: float, vtrace_lambda: float
) -> None:
    log_ratios, *rest = random_steps(steps, num_envs, seed)
    values = rest[1]
    trace = vtrace(np.zeros_like(log_ratios), *rest, gamma, vtrace_lambda=vtrace_lambda)
    advantages = gae(*rest, gamma, vtrace_lambda)
    np.testing.assert_allclose(trace.advantages, advantages, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(trace.targets, values + advantages, rtol=1e-4, atol=1e-4)
    assert np.all(trace.weights == 1)


def test_on_policy_with_lambda_one_targets_are_n_step_returns() -> None:
    rewards = np.array([[1.0], [2.0], [4.0]], np.float32)
    values = np.array([[10.0], [20.0], [30.0]], np.float32)
    none, zeros = np.zeros((3, 1), bool), np.zeros((3, 1), np.float32)
    trace = vtrace(zeros, rewards, values, none, none, values, np.array([8.0], np.float32), 0.5)
    assert trace.targets[:, 0].tolist() == [1 + 1 + 1 + 1, 2 + 2 + 2, 4 + 4]
    assert trace.advantages[:, 0].tolist() == [4 - 10, 6 - 20, 8 - 30]


def test_the_advantage_follows_the_next_target_and_not_the_next_value() -> None:
    rewards, values = np.array([[0.0], [100.0]], np.float32), np.zeros((2, 1), np.float32)
    none, last = np.zeros((2, 1), bool), np.zeros(1, np.float32)
    log_ratios = np.log(np.array([[1.0], [0.5]], np.float32))
    trace = vtrace(log_ratios, rewards, values, none, none, values, last, 1.0)
    assert trace.targets[:, 0].tolist() == [50, 50]  # half as likely to be done by the learner
    assert trace.advantages[:, 0].tolist() == [50, 100]
