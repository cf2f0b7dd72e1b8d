"""Around the environment: the step of Gymnax 1.x, and the time left as part of what is seen."""

from typing import Any

import jax.numpy as jnp

from garrison.cage2.names import DEFAULT_LENGTH
from garrison.jaxsim import gymnax_spaces
from garrison.jaxsim.params import Params
from garrison.jaxsim.state import State
from garrison.jaxsim.stream import Array

ManyValues = tuple[Any, ...]


class EnvAround:
    """Passes on to the environment what it does not change."""

    def __init__(self, env: Any) -> None:
        self._env = env

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # so that copies, which are made empty, can be asked too
            raise AttributeError(name)
        return getattr(self._env, name)


class SixValues(EnvAround):
    """The environment with the methods of Gymnax 1.x, which keeps `terminated` and `truncated` apart.

    `step` returns observation, state, reward, terminated, truncated, info; `step_env` has `terminated` where 0.x has
    `done`; and `is_terminal` leaves out time limits.

    >>> import jax
    >>> from garrison.jaxsim import Cage2
    >>> env = SixValues(Cage2(red="meander", length=30))
    >>> obs, state = env.reset(jax.random.key(0))
    >>> obs, state, reward, terminated, truncated, info = env.step(jax.random.key(1), state, 132)
    """

    def step(self, key: Array | None, state: Any, action: Any, params: Any = None) -> ManyValues:
        """Play a step; where it ends the episode, the observation and the state are those of the next one."""
        obs, state, reward, _, info = self._env.step(key, state, action, params)
        return obs, state, reward, info["terminated"], info["truncated"], info

    def step_env(self, key: Array | None, state: Any, action: Any, params: Any) -> ManyValues:
        """Play a step without a reset at the end, and leave out whether the time was up: `is_truncated` tells."""
        obs, state, reward, _, info = self._env.step_env(key, state, action, params)
        return obs, state, reward, info["terminated"], info

    def observe(self, key: Array, state: Any, action: Any, params: Any) -> Array:
        """Return what Blue sees."""
        return self._env.get_obs(state, params)

    def is_truncated(self, state: Any, params: Any = None) -> Array:
        """Return whether the time is up."""
        return self._env.is_terminal(state, params)

    def is_terminated(self, state: Any, params: Any = None) -> Array:
        """Return False: CAGE-2 only ever runs out of time."""
        return jnp.zeros_like(self.is_truncated(state, params))

    def is_terminal(self, state: Any, params: Any = None) -> Array:
        """Return what `is_terminated` does, as in Gymnax 1.x."""
        return self.is_terminated(state, params)


class TimeLeft(EnvAround):
    """The environment with one more value in every observation: the steps that are left, as a share of 100, at most 1.

    For trainers that take `done` for the end of everything. Whoever can see how much time is left can know that nothing
    comes after it, so the value of 0 that these trainers give to what follows is the right one. `final_observation` has
    the value 0 where an episode ends.
    """

    def reset(self, key: Array, params: Params | None = None) -> tuple[Array, State]:
        """Begin an episode."""
        return self._timed(self._env.reset(key, params), params)

    def reset_env(self, key: Array, params: Params) -> tuple[Array, State]:
        """Begin an episode."""
        return self._timed(self._env.reset_env(key, params), params)

    def reset_seeded(self, stream: Array, params: Params | None = None) -> tuple[Array, State]:
        """Begin an episode whose draws come from a stream."""
        return self._timed(self._env.reset_seeded(stream, params), params)

    def step(self, key: Array | None, state: State, action: Any, params: Params | None = None) -> ManyValues:
        """Play a step; where it ends the episode, the observation and the state are those of the next one."""
        return self._timed_step(self._env.step, key, state, action, params)

    def step_env(self, key: Array | None, state: State, action: Any, params: Params) -> ManyValues:
        """Play a step without a reset at the end."""
        return self._timed_step(self._env.step_env, key, state, action, params)

    def get_obs(self, state: State, params: Params | None = None, key: Array | None = None) -> Array:
        """Return what Blue sees."""
        return self._with_time(self._env.get_obs(state, params), state.t, params)

    def observation_space(self, params: Params | None = None) -> Any:
        """Return what an observation can be."""
        (width,) = self._env.observation_space(params).shape
        return gymnax_spaces.box(0.0, 1.0, (width + 1,))

    def _timed(self, begun: tuple[Array, State], params: Params | None) -> tuple[Array, State]:
        obs, state = begun
        return self._with_time(obs, state.t, params), state

    def _timed_step(self, step: Any, key: Array | None, state: State, action: Any, params: Params | None) -> ManyValues:
        taken = state.t + 1
        obs, state, reward, done, info = step(key, state, action, params)
        final = self._with_time(info["final_observation"], taken, params)
        obs = self._with_time(obs, state.t, params)
        return obs, state, reward, done, {**info, "final_observation": final}

    def _with_time(self, obs: Array, taken: Array, params: Params | None) -> Array:
        params = self._env.default_params if params is None else params
        left = jnp.clip((params.max_steps_in_episode - taken) / DEFAULT_LENGTH, 0, 1)
        return jnp.concatenate([obs, left[None].astype(obs.dtype)])
