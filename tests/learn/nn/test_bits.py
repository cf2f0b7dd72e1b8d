"""The first layer on bits: the same as a matrix product, however many are set, and the same every time."""

import numpy as np
import pytest
import torch
from gymnasium import spaces

from garrison.learn.nn import bits
from garrison.learn.nn.autograd import AutogradNetwork
from garrison.learn.nn.compiled import NO_MASKS, CompiledNetwork
from garrison.learn.nn.loss import Terms
from garrison.learn.nn.plan import CHUNK
from garrison.learn.nn.sampling import make_streams
from garrison.learn.rollout import TrainingBatch
from tests.helpers.learning import random_batch, random_policy

TERMS = Terms(0.2, 0.0, 0.5, 0.01, 0.3, 0.4)


def bits_of(density: float, samples: int, size: int) -> np.ndarray:
    return (np.random.default_rng(8).random((samples, size)) < density).astype(np.uint8)


def batch_of(density: float, size: int, **config: object) -> tuple[CompiledNetwork, TrainingBatch]:
    policy = random_policy(spaces.MultiBinary(size), spaces.Discrete(145), **config)
    batch = random_batch(policy, 7, 100, masked=False)
    policy.observations.store(bits_of(density, 700, size), batch.observations)
    return CompiledNetwork(policy, 100, 2), batch


@pytest.mark.parametrize("size", [1, 8, 52, 188])
@pytest.mark.parametrize("density", [0.0, 0.07, 0.5, 1.0])
def test_ones_are_listed_and_spread_out_again(density: float, size: int) -> None:
    shown = bits_of(density, CHUNK, size)
    form = random_policy(spaces.MultiBinary(size), spaces.Discrete(2)).observations
    stored = form.empty(CHUNK)
    form.store(shown, stored)
    rows = np.random.default_rng(1).permutation(CHUNK)
    ones = bits.Ones(np.full(CHUNK * size + 8, -1, np.int32), np.zeros(CHUNK, np.int64))
    assert bits.list_ones(stored, rows, ones) == shown.sum()
    again = np.full((CHUNK, size), 7.0, np.float32)
    bits.spread_ones(ones, again)
    np.testing.assert_array_equal(again, shown[rows])


@pytest.mark.parametrize("density", [0.0, 0.05, 0.2, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("config", [{}, {"trunk": "shared"}, {"hidden": (40, 24), "activation": "relu"}])
def test_gradients_and_values_equal_autograd_at_every_density(density: float, config: dict[str, object]) -> None:
    fast, batch = batch_of(density, 52, **config)
    slow = AutogradNetwork(fast.policy, 100, 1)
    rows = np.random.default_rng(7).permutation(700)[:650]
    np.testing.assert_allclose(
        fast.gradient(batch, rows, TERMS), slow.gradient(batch, rows, TERMS), rtol=1e-5, atol=1e-6
    )
    torch.testing.assert_close(fast.gradients, slow.gradients, rtol=0, atol=2e-5 * float(slow.gradients.abs().max()))
    seen, envs = batch.observations[:100], np.arange(100)
    np.testing.assert_allclose(fast.values(seen, envs), slow.values(seen, envs), atol=5e-6)
    fast.close()


def computed(density: float) -> bytes:
    network, batch = batch_of(density, 52)
    choices, (log_probs, values) = np.empty((700, 1), np.int32), np.empty((2, 700), np.float32)
    network.act(batch.observations, np.zeros(700, bool), NO_MASKS, make_streams(0, 700), choices, log_probs, values)
    means = network.gradient(batch, np.arange(700), TERMS)
    network.close()
    return b"".join(np.asarray(x).tobytes() for x in (choices, log_probs, values, network.gradients, means))


@pytest.mark.parametrize("density", [0.07, 0.9])
def test_columns_and_products_give_the_same_bits_every_time(density: float) -> None:
    assert computed(density) == computed(density)


@pytest.mark.parametrize(("density", "is_added"), [(0.07, True), (0.2, True), (0.3, False), (0.9, False)])
def test_few_ones_are_added_and_many_multiplied(density: float, is_added: bool) -> None:
    """Which of the two was done shows in a weight that no sample needs: a product multiplies it by 0."""
    network, batch = batch_of(density, 52)
    shown = bits_of(density, 700, 52)
    shown[:, 3] = 0
    network.policy.observations.store(shown, batch.observations)
    network.policy.critic.layers[0].weight.data[:, 3] = float("nan")
    values = network.values(batch.observations, np.arange(700))
    network.close()
    assert np.isfinite(values).all() if is_added else np.isnan(values).all()
