"""Generalised advantage estimation, as `garrison.learn.returns.gae` defines it."""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

Array = Any


class Outcomes(NamedTuple):
    """What steps brought: (T, N) each, see `garrison.learn.returns.gae`."""

    rewards: Array
    values: Array
    terminations: Array
    truncations: Array
    final_values: Array
    """The critic's value of the observation in which an episode was truncated; read only there."""


def estimate_advantages(outcomes: Outcomes, last_values: Array, gamma: float, gae_lambda: float) -> Array:
    """Return the advantages, (T, N); `last_values` (N,) are those of the observations after the last step."""
    discount, decay = jnp.float32(gamma), jnp.float32(gamma) * jnp.float32(gae_lambda)

    def back(later: tuple[Array, Array], step: Outcomes) -> tuple[tuple[Array, Array], Array]:
        advantage, value = later
        ended = step.terminations | step.truncations
        follows = jnp.where(step.truncations, step.final_values, value)
        follows = jnp.where(step.terminations, 0.0, follows)
        correction = step.rewards + discount * follows - step.values
        advantage = correction + decay * jnp.where(ended, 0.0, advantage)
        return (advantage, step.values), advantage

    start = (jnp.zeros_like(last_values), last_values)
    _, advantages = lax.scan(back, start, outcomes, reverse=True)
    return advantages


def explained_share(returns: Array, values: Array) -> Array:
    """Return the share of the returns' variance that the values explain, as `explained_variance` does."""
    variance = jnp.var(returns)
    return jnp.where(variance > 0, 1.0 - jnp.var(returns - values) / jnp.where(variance > 0, variance, 1.0), 0.0)
