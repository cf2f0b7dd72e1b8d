"""PPO's loss, as `garrison.learn.nn.loss` defines it, for JAX to differentiate."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from garrison.learn.jax_ppo.dense import DensePolicy, Parameters
from garrison.learn.jax_ppo.drawing import assess, forbid
from garrison.learn.nn.loss import Means, Terms

Array = Any


class Minibatch(NamedTuple):
    """What the loss reads of the samples that an optimiser step is for."""

    observations: Array
    """(B, inputs), of whatever type they are stored in."""
    masks: Array | None
    """(B, actions); None without action masks."""
    choices: Array
    log_probs: Array
    values: Array
    advantages: Array
    returns: Array


def scale_of(advantages: Array) -> tuple[Array, Array]:
    """Return the mean of the advantages and the factor that gives them deviation 1."""
    return advantages.mean(), 1.0 / (advantages.std() + 1e-8)


def gradient(policy: DensePolicy, parameters: Parameters, batch: Minibatch, terms: Terms) -> tuple[Array, Means]:
    """Return the loss's gradient in the order of the flat weights, and the parts of the loss."""
    slopes, means = jax.grad(loss, argnums=1, has_aux=True)(policy, parameters, batch, terms)
    return policy.join(slopes), means


def loss(policy: DensePolicy, parameters: Parameters, batch: Minibatch, terms: Terms) -> tuple[Array, Means]:
    """Return the loss, and its parts."""
    logits, values = policy.logits_and_values(parameters, batch.observations.astype(jnp.float32))
    log_probs, entropies = assess(forbid(logits, batch.masks), batch.choices)

    log_ratios = log_probs - batch.log_probs
    ratios = jnp.exp(log_ratios)
    advantages = (batch.advantages - terms.advantage_mean) * terms.advantage_scale
    clipped = jnp.clip(ratios, 1.0 - terms.clip, 1.0 + terms.clip)
    policy_loss = -jnp.minimum(ratios * advantages, clipped * advantages).mean()

    errors = (values - batch.returns) ** 2
    if terms.value_clip:
        near = batch.values + jnp.clip(values - batch.values, -terms.value_clip, terms.value_clip)
        errors = jnp.maximum(errors, (near - batch.returns) ** 2)
    value_loss = 0.5 * errors.mean()

    entropy = entropies.mean()
    means: Any = Means(
        policy_loss,
        value_loss,
        entropy,
        (ratios - 1.0 - log_ratios).mean(),
        (jnp.abs(ratios - 1.0) > terms.clip).mean(dtype=jnp.float32),
    )
    return policy_loss + terms.value_coef * value_loss - terms.entropy_coef * entropy, means
