"""Actions are drawn with their probabilities, never a forbidden one, and weighed as the other learners weigh them."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import torch
from gymnasium import spaces

from garrison.learn.config import PolicyConfig
from garrison.learn.jax_ppo.drawing import BLOCK, assess, draw, forbid
from garrison.learn.spaces.categorical import Categorical

LARGEST = np.float32(1.0 - 2.0**-23)
"""The largest number that `jax.random.uniform` gives."""


def random_logits(rows: int, actions: int) -> tuple[Any, Any]:
    random = np.random.default_rng(actions)
    masks = random.random((rows, actions)) < 0.4
    masks[np.arange(rows), random.integers(actions, size=rows)] = True
    return jnp.asarray(random.normal(0, 3, (rows, actions)).astype(np.float32)), jnp.asarray(masks)


@pytest.mark.parametrize("actions", [2, BLOCK, BLOCK + 1, 67, 145])
@pytest.mark.parametrize("masked", [False, True])
def test_log_probs_and_entropies_are_those_of_the_other_learners(actions: int, masked: bool) -> None:
    logits, masks = random_logits(50, actions)
    choices, log_probs = draw(forbid(logits, masks if masked else None), jnp.linspace(0.0, LARGEST, 50))
    again, entropies = assess(forbid(logits, masks if masked else None), choices)
    distribution = Categorical(spaces.Discrete(actions), PolicyConfig())
    wanted, wanted_entropies = distribution.evaluate(
        torch.from_numpy(np.array(logits)),
        torch.from_numpy(np.array(choices))[:, None],
        torch.from_numpy(np.array(masks)) if masked else None,
    )
    np.testing.assert_allclose(log_probs, wanted, atol=2e-6)
    np.testing.assert_allclose(again, wanted, atol=2e-6)
    np.testing.assert_allclose(entropies, wanted_entropies, atol=2e-6)


@pytest.mark.parametrize("actions", [5, 67])
def test_draws_follow_the_probabilities(actions: int) -> None:
    logits, masks = random_logits(1, actions)
    count = 200_000
    rows = jnp.tile(forbid(logits, masks), (count, 1))
    choices, _ = jax.jit(draw)(rows, jax.random.uniform(jax.random.key(1), (count,)))
    wanted = np.asarray(jax.nn.softmax(rows[0]))
    found = np.bincount(choices, minlength=actions) / count
    assert np.abs(found - wanted).max() < 5 * np.sqrt(0.25 / count)
    assert found[~np.asarray(masks)[0]].sum() == 0


@pytest.mark.parametrize("actions", [2, 30, 145])
def test_the_ends_of_the_range_fall_on_allowed_actions(actions: int) -> None:
    """Also where one action has all but the whole probability, and rounding decides."""
    logits, masks = random_logits(3000, actions)
    for scale in (0.01, 1.0, 30.0):
        for uniform in (0.0, LARGEST):
            choices, log_probs = draw(forbid(scale * logits, masks), jnp.full(3000, uniform))
            assert np.asarray(masks)[np.arange(3000), choices].all()
            assert np.isfinite(log_probs).all()


def test_a_draw_is_where_the_running_sum_passes_the_number() -> None:
    logits, masks = random_logits(2000, 67)
    uniforms = jax.random.uniform(jax.random.key(2), (2000,))
    choices, _ = draw(forbid(logits, masks), uniforms)
    sums = np.asarray(jax.nn.softmax(forbid(logits, masks))).astype(np.float64).cumsum(axis=1)
    rows = np.arange(2000)
    before = np.where(choices > 0, sums[rows, np.asarray(choices) - 1], 0.0)
    assert (before <= np.asarray(uniforms) + 1e-5).all()
    assert (sums[rows, choices] >= np.asarray(uniforms) - 1e-5).all()
