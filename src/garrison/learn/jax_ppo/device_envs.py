"""Environments written in JAX as this learner uses them: many of one kind, stepped together on the device."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from garrison.errors import UserError

Array = Any

METHODS = ("default_params", "reset", "step", "observation_space", "action_space")


class Transition(NamedTuple):
    """What a step of all environments brought, (N, ...) each."""

    observations: Array
    """What is seen next, after a reset where an episode has ended."""
    state: Any
    rewards: Array
    terminations: Array
    truncations: Array
    final_observations: Array | None
    """What was seen where an episode ended; None where nobody tells, and then nothing is truncated."""


class DeviceEnvs:
    """Copies of one environment with the methods of Gymnax, such as `garrison.jaxsim.Cage2`.

    It may tell more than Gymnax asks for:

        info["truncated"]           whether an episode only ran into a limit, and
        info["final_observation"]   what was seen then, before the automatic reset; without both, `done` is an end
        get_avail_actions(state)    what is allowed now
        holds_bits                  that observations hold zeros and ones only, so that they can be kept as bytes
    """

    def __init__(self, env: Any, num_envs: int) -> None:
        if lacking := [name for name in METHODS if not hasattr(env, name)]:
            raise UserError(
                f"ppo-jax steps environments on the device, and {type(env).__name__} has no {lacking[0]!r}: give it "
                "one written in JAX with Gymnax's methods, such as garrison.jaxsim.Cage2."
            )
        self.env, self.num_envs, self.params = env, num_envs, env.default_params
        self.observation_space = to_gymnasium(env.observation_space(self.params))
        self.action_space = to_gymnasium(env.action_space(self.params))
        if not isinstance(self.observation_space, spaces.Box) or not isinstance(self.action_space, spaces.Discrete):
            raise UserError(
                "ppo-jax takes observations of a Box and actions that are Discrete; these are "
                f"{self.observation_space} and {self.action_space}."
            )
        self.size = int(np.prod(self.observation_space.shape))
        self.stored = jnp.int8 if getattr(env, "holds_bits", False) else jnp.float32

    def reset(self, key: Array, params: Any) -> tuple[Array, Any]:
        """Begin new episodes everywhere; return what is seen, and the state."""
        keys = jax.random.split(key, self.num_envs)
        observations, state = jax.vmap(self.env.reset, in_axes=(0, None))(keys, params)
        return self._store(observations), state

    def step(self, key: Array, state: Any, actions: Array, params: Any) -> Transition:
        """Step all environments."""
        keys = jax.random.split(key, self.num_envs)
        step = jax.vmap(self.env.step, in_axes=(0, 0, 0, None))
        observations, state, rewards, done, info = step(keys, state, actions, params)
        final, truncated = info.get("final_observation"), info.get("truncated")
        if final is None or truncated is None:
            final, truncations, terminations = None, jnp.zeros_like(done), done
        else:
            final, truncations, terminations = self._store(final), truncated, info.get("terminated", done & ~truncated)
        flags = terminations.astype(bool), truncations.astype(bool)
        return Transition(self._store(observations), state, rewards.astype(jnp.float32), *flags, final)

    def masks(self, state: Any) -> Array:
        """Return what is allowed, (N, actions)."""
        return jax.vmap(self.env.get_avail_actions)(state).astype(bool)

    @property
    def has_masks(self) -> bool:
        """Whether the environments tell what is allowed."""
        return hasattr(self.env, "get_avail_actions")

    def _store(self, observations: Array) -> Array:
        return observations.reshape(self.num_envs, self.size).astype(self.stored)


def to_gymnasium(space: Any) -> spaces.Space[Any]:
    """Return a space of Gymnax, or of any package with the same fields, as Gymnasium's."""
    if isinstance(space, spaces.Space):
        return space
    if hasattr(space, "n"):
        return spaces.Discrete(int(space.n))
    if hasattr(space, "low") and hasattr(space, "high"):
        shape, dtype = tuple(space.shape), np.dtype(space.dtype)
        low, high = (np.broadcast_to(np.asarray(bound, dtype), shape) for bound in (space.low, space.high))
        return spaces.Box(low, high, shape, dtype.type)
    raise UserError(f"ppo-jax takes observations of a Box and actions that are Discrete; there is a {space!r}.")
