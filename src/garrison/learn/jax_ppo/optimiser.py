"""Adam over one flat vector, as `garrison.learn.nn.adam` computes it."""

import math
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from garrison.learn.config import LearnerConfig

Array = Any


class AdamState(NamedTuple):
    """What a step depends on besides weights and gradient."""

    first: Array
    second: Array
    steps: Array
    """int32: steps made so far."""

    @classmethod
    def fresh(cls, size: int) -> "AdamState":
        """Return the state before the first step over this many weights."""
        return cls(jnp.zeros(size, jnp.float32), jnp.zeros(size, jnp.float32), jnp.int32(0))


def adam_step(
    weights: Array, gradient: Array, adam: AdamState, learning_rate: Array, config: LearnerConfig
) -> tuple[Array, AdamState, Array]:
    """Return the weights after a step, the next state, and the gradient's length before it was shortened."""
    norm = jnp.sqrt(jnp.sum(gradient * gradient))
    if config.max_grad_norm:
        longest = np.float32(config.max_grad_norm)
        gradient = gradient * jnp.where(norm > longest, longest / (norm + np.float32(1e-6)), 1.0)
    beta1, beta2, epsilon = (np.float32(x) for x in (config.adam_beta1, config.adam_beta2, config.adam_epsilon))
    one = np.float32(1.0)
    steps = adam.steps + 1
    first = beta1 * adam.first + (one - beta1) * gradient
    second = beta2 * adam.second + (one - beta2) * gradient * gradient
    rate = learning_rate / _missing(config.adam_beta1, steps)
    root = one / jnp.sqrt(_missing(config.adam_beta2, steps))
    weights = weights - rate * first / (jnp.sqrt(second) * root + epsilon)
    return weights, AdamState(first, second, steps), norm


def _missing(beta: float, steps: Array) -> Array:
    """Return 1 - beta**steps, with all digits: in single precision the power alone would lose half of them."""
    if beta == 0.0:
        return jnp.float32(1.0)
    return -jnp.expm1(steps.astype(jnp.float32) * np.float32(math.log(beta)))
