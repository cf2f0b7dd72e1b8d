"""Adam on the device makes the steps that the other learners' Adam makes."""

import numpy as np
import pytest

pytest.importorskip("jax")

import jax.numpy as jnp
import torch

from garrison.learn.config import PPOConfig
from garrison.learn.jax_ppo.optimiser import AdamState, adam_step
from garrison.learn.nn.adam import Adam


@pytest.mark.parametrize(
    "config", [PPOConfig(), PPOConfig(max_grad_norm=0.0), PPOConfig(adam_beta1=0.0)], ids=["usual", "free", "no memory"]
)
@pytest.mark.parametrize("size", [0.01, 5.0])
def test_steps_are_those_of_the_other_learners(config: PPOConfig, size: float) -> None:
    random = np.random.default_rng(0)
    start = random.normal(size=300).astype(np.float32)
    torch_weights = torch.from_numpy(start.copy())
    reference = Adam(torch_weights, config.adam_beta1, config.adam_beta2, config.adam_epsilon)
    weights, adam = jnp.asarray(start), AdamState.fresh(300)
    for step in range(20):
        gradient = (size * random.normal(size=300) / np.sqrt(300)).astype(np.float32)
        rate = 1e-2 * (1.0 - step / 20)
        wanted = reference.step(torch.from_numpy(gradient), rate, config.max_grad_norm)
        weights, adam, norm = adam_step(weights, jnp.asarray(gradient), adam, jnp.float32(rate), config)
        assert float(norm) == pytest.approx(wanted, rel=1e-5)
        np.testing.assert_allclose(weights, torch_weights.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(adam.first, reference.first.numpy(), rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(adam.second, reference.second.numpy(), rtol=1e-4, atol=1e-9)
    assert int(adam.steps) == reference.steps


def test_the_bias_is_corrected_to_the_last_digits_also_late_in_a_run() -> None:
    config = PPOConfig(max_grad_norm=0.0)
    gradient = np.full(3, 0.5, np.float32)
    for steps in (0, 10, 1000, 10_000_000):
        reference = Adam(torch.zeros(3), epsilon=config.adam_epsilon)
        reference.steps = steps
        reference.step(torch.from_numpy(gradient), 1e-3)
        adam = AdamState.fresh(3)._replace(steps=jnp.int32(steps))
        weights, _, _ = adam_step(jnp.zeros(3), jnp.asarray(gradient), adam, jnp.float32(1e-3), config)
        np.testing.assert_allclose(weights, reference.flat.numpy(), rtol=2e-6)
