"""A small environment written in JAX, with Gymnax's methods: the twin of `BitsEnv` for learners on the device."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces


class BitsState(NamedTuple):
    time: Any
    bits: Any


class JaxBits:
    """Shows random bits; pays `params` for the action that the first bits name in binary; truncates at `length`.

    The first episodes are up to `starts` steps old, so that they end at different times; by default they may be of any
    age. The actions that are allowed have the right number's parity.
    """

    default_params = jnp.float32(1.0)
    holds_bits = True

    def __init__(self, bits: int = 10, actions: int = 8, length: int = 20, starts: int | None = None) -> None:
        self.bits, self.actions, self.length, self.starts = bits, actions, length, starts or length
        self.named = int(np.log2(actions))

    def observation_space(self, params: Any) -> spaces.Space[Any]:
        return spaces.Box(0, 1, (self.bits,), np.int8)

    def action_space(self, params: Any) -> spaces.Space[Any]:
        return spaces.Discrete(self.actions)

    def reset(self, key: Any, params: Any) -> tuple[Any, BitsState]:
        first, second = jax.random.split(key)
        state = BitsState(jax.random.randint(first, (), 0, self.starts), self._draw(second))
        return state.bits.astype(jnp.float32), state

    def step(self, key: Any, state: BitsState, action: Any, params: Any) -> tuple[Any, BitsState, Any, Any, Any]:
        reward = jnp.where(action == self._wanted(state), params, 0.0)
        time = state.time + 1
        done = time >= self.length
        bits = self._draw(key)
        final = jnp.where(done, ~bits, bits).astype(jnp.float32)
        info = {"terminated": jnp.zeros_like(done), "truncated": done, "final_observation": final}
        return bits.astype(jnp.float32), BitsState(jnp.where(done, 0, time), bits), reward, done, info

    def get_avail_actions(self, state: BitsState) -> Any:
        return jnp.arange(self.actions) % 2 == self._wanted(state) % 2

    def _wanted(self, state: BitsState) -> Any:
        return (state.bits[: self.named] * 2 ** jnp.arange(self.named)).sum()

    def _draw(self, key: Any) -> Any:
        return jax.random.bernoulli(key, 0.5, (self.bits,))


class GymnaxBits(JaxBits):
    """The same by Gymnax's own rules: nothing but `done` says that an episode has ended."""

    def step(self, key: Any, state: BitsState, action: Any, params: Any) -> tuple[Any, BitsState, Any, Any, Any]:
        observation, state, reward, done, _ = super().step(key, state, action, params)
        return observation, state, reward, done, {}
