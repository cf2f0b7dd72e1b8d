"""Categorical actions: drawn by one random number a row, and weighed as the loss weighs them."""

from typing import Any

import jax.numpy as jnp
from jax.nn import log_softmax

from garrison.learn.nn.arithmetic import MASKED

Array = Any

BLOCK = 12
"""Columns summed at once. A running sum over all 145 takes three times as long, Gumbel's noise as well."""


def forbid(logits: Array, masks: Array | None) -> Array:
    """Return logits whose probability is 0 where `masks` is False; None forbids nothing."""
    return logits if masks is None else jnp.where(masks, logits, MASKED)


def draw(logits: Array, uniforms: Array) -> tuple[Array, Array]:
    """Draw an index per row, and the log-probability of each.

    A draw is the first column at which the running sum of probabilities exceeds the random number. It is searched among
    blocks of columns and then within one. Sums are taken in order, so they never fall, and what has probability 0 is
    never drawn.

    Args:
        logits: (N, actions), what is forbidden already as low as `forbid` makes it.
        uniforms: (N,), from 0 to less than 1, in steps of 2**-23 as `jax.random.uniform` gives them.
    """
    size = logits.shape[-1]
    shifted = logits - logits.max(axis=-1, keepdims=True)
    blocks = -(-size // BLOCK)
    weights = jnp.pad(jnp.exp(shifted), ((0, 0), (0, blocks * BLOCK - size))).reshape(-1, blocks, BLOCK)
    sums = _running(weights.sum(axis=-1), jnp.zeros_like(uniforms))
    total = sums[:, -1]
    target = (uniforms * total)[:, None]  # less than the total: a number in such steps never rounds up to it
    block = (sums <= target).sum(axis=-1)
    before = jnp.where(jnp.arange(blocks) < block[:, None], sums, 0.0).max(axis=-1)
    row = jnp.take_along_axis(weights, block[:, None, None], axis=1)[:, 0]
    column = (_running(row, before) <= target).sum(axis=-1)
    # Where rounding leaves the sum of a block's columns below that of the block, it is the last possible column.
    last = jnp.where(row > 0.0, jnp.arange(BLOCK), 0).max(axis=-1)
    choices = block * BLOCK + jnp.minimum(column, last)
    return choices.astype(jnp.int32), _chosen(shifted, choices) - jnp.log(total)


def assess(logits: Array, choices: Array) -> tuple[Array, Array]:
    """Return the log-probabilities (N,) of the choices, and the entropies (N,)."""
    log_probs = log_softmax(logits, axis=-1)
    return _chosen(log_probs, choices), -(jnp.exp(log_probs) * log_probs).sum(axis=-1)


def _running(columns: Array, start: Array) -> Array:
    """Return the running sums over a few columns, each the last one plus the next number."""
    sums = []
    for k in range(columns.shape[-1]):
        start = start + columns[:, k]
        sums.append(start)
    return jnp.stack(sums, axis=-1)


def _chosen(columns: Array, choices: Array) -> Array:
    """Return one number of each row, by a comparison: its gradient is one too, and not a scattered sum."""
    return jnp.where(jnp.arange(columns.shape[-1]) == choices[:, None], columns, 0.0).sum(axis=-1)
