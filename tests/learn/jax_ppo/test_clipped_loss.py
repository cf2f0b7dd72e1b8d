"""Loss and gradient on the device are those that torch computes for the same batch."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import jax.numpy as jnp
from gymnasium import spaces

from garrison.learn.config import PPOConfig
from garrison.learn.jax_ppo.clipped_loss import Minibatch, gradient, scale_of
from garrison.learn.jax_ppo.dense import DensePolicy
from garrison.learn.jax_ppo.optimiser import AdamState, adam_step
from garrison.learn.nn.adam import Adam
from garrison.learn.nn.autograd import AutogradNetwork
from garrison.learn.nn.loss import Means, Terms, normalisation
from garrison.learn.nn.policy import Policy
from garrison.learn.rollout import TrainingBatch
from tests.helpers.learning import random_batch, random_policy

BITS, ACTIONS = spaces.Box(0, 1, (13,), np.int8), spaces.Discrete(17)
TERMS = Terms(clip=0.1, value_clip=0.0, value_coef=0.5, entropy_coef=0.02, advantage_mean=0.5, advantage_scale=0.4)


def rows_of(batch: TrainingBatch, policy: Policy, rows: Any) -> Minibatch:
    """Return samples of a batch as the device has them."""
    observations = np.empty((len(rows), 13), np.float32)
    policy.observations.inputs(batch.observations, rows, observations)
    return Minibatch(
        observations=jnp.asarray(observations.astype(np.int8)),
        masks=jnp.asarray(batch.masks[rows]) if len(batch.masks) else None,
        choices=jnp.asarray(batch.choices[rows, 0]),
        **{name: jnp.asarray(getattr(batch, name)[rows]) for name in ("log_probs", "values", "advantages", "returns")},
    )


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("value_clip", [0.0, 0.05])
@pytest.mark.parametrize("trunk", ["separate", "shared"])
def test_the_gradient_is_that_of_the_other_learners(masked: bool, value_clip: float, trunk: str) -> None:
    policy = random_policy(BITS, ACTIONS, hidden=(16, 8), trunk=trunk)
    batch = random_batch(policy, 20, 10, masked)
    rows = np.random.default_rng(0).permutation(200)[:120]
    terms = TERMS._replace(value_clip=value_clip)
    network = AutogradNetwork(policy, 10, 1)
    wanted = network.gradient(batch, rows, terms)
    assert 0.1 < wanted.clip_fraction < 0.9

    dense = DensePolicy(13, 17, policy.config)
    parameters = dense.split(jnp.asarray(policy.flat.numpy()))
    found, means = gradient(dense, parameters, rows_of(batch, policy, rows), terms)
    np.testing.assert_allclose(found, network.gradients.numpy(), rtol=1e-4, atol=1e-6)
    for name, one, other in zip(Means._fields, means, wanted, strict=True):
        assert float(one) == pytest.approx(other, rel=1e-5, abs=1e-6), name


@pytest.mark.parametrize("masked", [False, True])
def test_a_step_of_adam_moves_the_weights_as_the_other_learners_do(masked: bool) -> None:
    policy = random_policy(BITS, ACTIONS, hidden=(16, 8))
    batch, rows, config = random_batch(policy, 20, 10, masked), np.arange(200), PPOConfig()
    dense, start = DensePolicy(13, 17, policy.config), jnp.asarray(policy.flat.numpy().copy())
    network = AutogradNetwork(policy, 10, 1)
    network.gradient(batch, rows, TERMS)
    reference = Adam(policy.flat, config.adam_beta1, config.adam_beta2, config.adam_epsilon)
    reference.step(network.gradients, 1e-2, config.max_grad_norm)

    slopes, _ = gradient(dense, dense.split(start), rows_of(batch, policy, rows), TERMS)
    weights, _, _ = adam_step(start, slopes, AdamState.fresh(len(start)), jnp.float32(1e-2), config)
    assert np.abs(weights - start).max() > 5e-3
    np.testing.assert_allclose(weights, policy.flat.numpy(), atol=1e-5)


def test_advantages_are_scaled_as_by_the_other_learners() -> None:
    advantages = np.random.default_rng(1).normal(3.0, 7.0, 5000).astype(np.float32)
    np.testing.assert_allclose(scale_of(jnp.asarray(advantages)), normalisation(advantages), rtol=1e-5)
