"""Thousandths become the float that stands nearest."""

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

from garrison.cage2.reward import to_resolution
from garrison.jaxsim.price import LARGEST_SUM, thousandths, to_float
from garrison.jit import plain


def expected(amounts: np.ndarray) -> np.ndarray:
    return (amounts.astype(np.float64) / 1000).astype(np.float32)


def test_every_reward_below_two_thousand_is_exact() -> None:
    amounts = np.arange(-(2**21), 2**21, dtype=np.int32)
    assert np.array_equal(jax.jit(to_float)(jnp.asarray(amounts)), expected(amounts))


def test_sums_up_to_the_largest_are_exact() -> None:
    largest = int(LARGEST_SUM * 1000)
    amounts = np.random.default_rng(0).integers(-largest, largest, 2**20).astype(np.int32)
    amounts[:4] = largest, -largest, largest - 1, 2**24 + 1
    assert np.array_equal(jax.jit(to_float)(jnp.asarray(amounts)), expected(amounts))


def test_that_is_what_the_compiled_engine_gives() -> None:
    for amount in (-1, -100, -11100, 3, 16_777_217, -541_123_456):
        assert np.float32(plain(to_resolution)(amount * 0.001)) == float(to_float(jnp.int32(amount)))


def test_costs_become_thousandths() -> None:
    assert np.array_equal(thousandths([0.1, 1.0, 10.0, 0.001, -2.5]), [100, 1000, 10000, 1, -2500])
    assert np.array_equal(jax.jit(thousandths)(jnp.array([0.1, 16.001])), [100, 16001])
