"""The pure policy computes what the policy of the same weights does."""

import numpy as np
import pytest

pytest.importorskip("jax")

import jax.numpy as jnp
import torch
from gymnasium import spaces

from garrison.learn.config import PolicyConfig
from garrison.learn.jax_ppo.dense import DensePolicy
from garrison.learn.nn.policy import Policy

SPACES = spaces.Box(-1, 1, (11,), np.float32), spaces.Discrete(7)
SHAPES = [
    PolicyConfig(hidden=(16, 8)),
    PolicyConfig(hidden=(16,), activation="relu", trunk="shared"),
    PolicyConfig(hidden=(), trunk="encoder"),
]


@pytest.mark.parametrize("config", SHAPES, ids=lambda config: config.trunk)
def test_logits_and_values_are_those_of_the_policy(config: PolicyConfig) -> None:
    policy = Policy(*SPACES, config, seed=3)
    dense = DensePolicy(11, 7, config)
    inputs = np.random.default_rng(0).normal(size=(20, 11)).astype(np.float32)
    with torch.inference_mode():
        wanted_logits, wanted_values, _ = policy((torch.from_numpy(inputs),))
    parameters = dense.split(jnp.asarray(policy.flat.numpy()))
    logits, values = dense.logits_and_values(parameters, jnp.asarray(inputs))
    np.testing.assert_allclose(logits, wanted_logits.numpy(), atol=1e-6)
    np.testing.assert_allclose(values, wanted_values.numpy(), atol=1e-6)
    np.testing.assert_allclose(dense.values(parameters, jnp.asarray(inputs)), values, atol=1e-6)


@pytest.mark.parametrize("config", SHAPES, ids=lambda config: config.trunk)
def test_every_weight_has_the_place_that_it_has_in_the_policy(config: PolicyConfig) -> None:
    policy = Policy(*SPACES, config)
    dense = DensePolicy(11, 7, config)
    assert dense.places == policy.places()
    numbers = jnp.arange(len(policy.flat), dtype=jnp.float32)
    assert np.array_equal(dense.join(dense.split(numbers)), numbers)
