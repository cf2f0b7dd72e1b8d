"""Collecting a rollout on the device: act, step, note; `config.rollout` times in one `lax.scan`."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from garrison.learn.episodes import RECENT
from garrison.learn.jax_ppo.advantages import Outcomes
from garrison.learn.jax_ppo.dense import DensePolicy, Parameters
from garrison.learn.jax_ppo.device_envs import DeviceEnvs
from garrison.learn.jax_ppo.drawing import draw, forbid

Array = Any


class Scene(NamedTuple):
    """The environments between two steps."""

    envs: Any
    """Their state."""
    observations: Array
    """(N, size): what they show."""
    returns: Array
    """(N,): what the present episodes have paid."""
    lengths: Array
    """(N,): how long they are."""


class Steps(NamedTuple):
    """(T, N, ...): what was seen and done, and what it brought."""

    observations: Array
    masks: Array | None
    choices: Array
    log_probs: Array
    outcomes: Outcomes
    returns: Array
    """Of the episode until then."""
    lengths: Array


class Ended(NamedTuple):
    """The episodes that ended in a rollout."""

    count: Array
    returns: Array
    """(at most RECENT,): of the last ones, the very last first; only the first `count` are meant."""
    lengths: Array


def begin(envs: DeviceEnvs, key: Array, params: Any) -> Scene:
    """Begin new episodes."""
    observations, state = envs.reset(key, params)
    return Scene(state, observations, jnp.zeros(envs.num_envs), jnp.zeros(envs.num_envs, jnp.int32))


def collect(
    envs: DeviceEnvs,
    policy: DensePolicy,
    parameters: Parameters,
    scene: Scene,
    key: Array,
    params: Any,
    length: int,
    masked: bool,
) -> tuple[Scene, Steps]:
    """Take `length` steps with every environment."""
    acting, stepping = jax.random.split(key)
    uniforms = jax.random.uniform(acting, (length, envs.num_envs))
    keys = jax.random.split(stepping, length)

    def one_step(scene: Scene, random: tuple[Array, Array]) -> tuple[Scene, Steps]:
        uniform, key = random
        masks = envs.masks(scene.envs) if masked else None
        logits, values = policy.logits_and_values(parameters, scene.observations.astype(jnp.float32))
        choices, log_probs = draw(forbid(logits, masks), uniform)
        seen = envs.step(key, scene.envs, choices, params)
        final_values = _final_values(policy, parameters, seen.truncations, seen.final_observations)
        returns, lengths = scene.returns + seen.rewards, scene.lengths + 1
        ended = seen.terminations | seen.truncations
        outcomes = Outcomes(seen.rewards, values, seen.terminations, seen.truncations, final_values)
        noted = Steps(scene.observations, masks, choices, log_probs, outcomes, returns, lengths)
        after = Scene(seen.state, seen.observations, jnp.where(ended, 0.0, returns), jnp.where(ended, 0, lengths))
        return after, noted

    return lax.scan(one_step, scene, (uniforms, keys))  # type: ignore[no-any-return]


def _final_values(policy: DensePolicy, parameters: Parameters, truncations: Array, final: Array | None) -> Array:
    """Return the critic's values of the observations in which episodes were truncated, 0 if none was."""
    nothing = jnp.zeros(truncations.shape, jnp.float32)
    if final is None:
        return nothing

    def values() -> Array:
        return policy.values(parameters, final.astype(jnp.float32))

    return lax.cond(truncations.any(), values, lambda: nothing)


def last_episodes(steps: Steps) -> Ended:
    """Return the episodes that ended last, in the order of steps and environments."""
    ended = (steps.outcomes.terminations | steps.outcomes.truncations).reshape(-1)
    # Places as floats, which are exact up to 2**24 and by far the quickest to search.
    places = jnp.where(ended, jnp.arange(ended.size, dtype=jnp.float32), -1.0)
    _, rows = lax.top_k(places, min(RECENT, ended.size))
    return Ended(ended.sum(), steps.returns.reshape(-1)[rows], steps.lengths.reshape(-1)[rows])
