"""Advantages on the device are those of `garrison.learn.returns`."""

import numpy as np
import pytest

pytest.importorskip("jax")

import jax.numpy as jnp

from garrison.learn.jax_ppo.advantages import Outcomes, estimate_advantages, explained_share
from garrison.learn.returns import explained_variance, gae


@pytest.mark.parametrize(("gamma", "gae_lambda"), [(0.99, 0.95), (1.0, 1.0), (0.9, 0.0)])
def test_advantages_are_those_of_the_other_learners(gamma: float, gae_lambda: float) -> None:
    random = np.random.default_rng(0)
    shape = (40, 30)
    rewards, values, final_values = (random.normal(size=shape).astype(np.float32) for _ in range(3))
    terminations, truncations = (random.random(shape) < 0.1 for _ in range(2))  # sometimes both at once
    last_values = random.normal(size=30).astype(np.float32)
    wanted = gae(rewards, values, terminations, truncations, final_values, last_values, gamma, gae_lambda)
    outcomes = Outcomes(*map(jnp.asarray, (rewards, values, terminations, truncations, final_values)))
    found = estimate_advantages(outcomes, jnp.asarray(last_values), gamma, gae_lambda)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_a_truncated_episode_is_worth_what_its_end_promised() -> None:
    ones, no = jnp.ones((1, 1)), jnp.zeros((1, 1), bool)
    cut = Outcomes(ones, 0.0 * ones, no, ~no, 10.0 * ones)
    over = cut._replace(terminations=~no, truncations=no)
    nothing = jnp.full(1, 100.0)  # what the next episode promises is of no account
    assert estimate_advantages(cut, nothing, 0.5, 0.95).item() == 6.0
    assert estimate_advantages(over, nothing, 0.5, 0.95).item() == 1.0
    assert estimate_advantages(cut._replace(truncations=no), nothing, 0.5, 0.95).item() == 51.0


def test_the_explained_share_is_that_of_the_other_learners() -> None:
    random = np.random.default_rng(1)
    returns = random.normal(size=500).astype(np.float32)
    values = returns + 0.3 * random.normal(size=500).astype(np.float32)
    assert explained_share(returns, values) == pytest.approx(explained_variance(returns, values), abs=1e-5)
    assert explained_share(np.ones(5, np.float32), np.zeros(5, np.float32)) == 0.0
