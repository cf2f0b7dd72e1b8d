"""CAGE-2 with the methods of a Gymnax environment: pure functions for `jit`, `vmap` and `scan`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from garrison.cage2.action_sets import ACTION_IDS
from garrison.cage2.inputs import RED_KINDS
from garrison.cage2.layout import MAX_LENGTH
from garrison.cage2.names import (
    DEFAULT_ACTIONS,
    DEFAULT_ENCODER,
    DEFAULT_LENGTH,
    DEFAULT_OBSERVATION,
    DEFAULT_RED,
    DEFAULT_RULES,
    NUM_ACTIONS,
    NUM_HOSTS,
)
from garrison.cage2.rng import seed_streams
from garrison.cage2.scenario import load_scenario
from garrison.contract.resets import whole
from garrison.jaxsim import gymnax_spaces
from garrison.jaxsim.blue_turn import allowed
from garrison.jaxsim.params import Params, params_of
from garrison.jaxsim.price import to_float
from garrison.jaxsim.red_choice import RedChoice
from garrison.jaxsim.sight import observe
from garrison.jaxsim.state import State
from garrison.jaxsim.stream import Array, Words, words_of, words_of_key
from garrison.jaxsim.turn import begin, begin_if, has_ended, play
from garrison.jaxsim.variant import Variant, named_attackers, variant_of

Transition = tuple[Array, State, Array, Array, dict[str, Array]]


class Cage2:
    """CAGE-2 for Blue, as a Gymnax environment: one environment, and `vmap` makes a batch of it.

    Arguments are those of `garrison.cage2.VectorEnv`, with the same meaning and defaults. They decide what is compiled
    and what `default_params` holds; whatever is in there can be changed, or `vmap`ped over, without compiling again.
    With a list as `red`, all of its attackers are compiled in and `params.red` says who plays; of a mixture, all that
    it names are, and `params.red_odds` may change between these.

    With a JAX key the key decides all draws. With None in its place they come from the state's own stream: after
    `reset_seeded` an episode is then, byte for byte, that of `garrison.cage2.VectorEnv` with the same seed.

    Actions that do not exist become the nearest that do: inside a compiled program nothing can be raised.

    >>> import jax
    >>> env = Cage2(red="meander", length=30)
    >>> obs, state = env.reset(jax.random.key(0))
    >>> obs, state, reward, done, info = env.step(jax.random.key(1), state, 132)
    >>> float(reward)
    -1.0
    """

    holds_bits = True
    """Every number of an observation is 0 or 1: whoever keeps many of them can keep bytes."""

    def __init__(
        self,
        red: str | Sequence[str] | Mapping[str, float] = DEFAULT_RED,
        rules: str = DEFAULT_RULES,
        length: int = DEFAULT_LENGTH,
        encoder: str = DEFAULT_ENCODER,
        scenario: str | Path | None = None,
        observation: str = DEFAULT_OBSERVATION,
        actions: str = DEFAULT_ACTIONS,
    ) -> None:
        self.variant = variant_of(red, observation, actions)
        """What is compiled in"""
        codes, odds = named_attackers(red)
        steps = whole("length", length, 1, MAX_LENGTH)
        self._params = params_of(load_scenario(scenario, rules, encoder), steps, codes[0], odds)

    # --- Gymnax's methods

    @property
    def name(self) -> str:
        """The environment's name."""
        return type(self).__name__

    @property
    def default_params(self) -> Params:
        """The numbers of the game that the arguments ask for."""
        return self._params

    @property
    def num_actions(self) -> int:
        """How many actions Blue has."""
        return self.variant.num_actions

    def reset(self, key: Array, params: Params | None = None) -> tuple[Array, State]:
        """Begin an episode."""
        return self.reset_env(key, self._or_default(params))

    def step(self, key: Array | None, state: State, action: Any, params: Params | None = None) -> Transition:
        """Play a step; where it ends the episode, the observation and the state are those of the next one.

        Returns:
            Observation (float32), state, reward (float32), done, and info: `terminated` (never), `truncated`,
            `final_observation` (what this step showed, before a reset), `discount` (1: nothing terminates), and
            `episode_return` and `episode_length` of the episode that ended last.
        """
        return _step(self.variant, key, state, action, self._or_default(params))  # type: ignore[no-any-return]

    def reset_env(self, key: Array, params: Params) -> tuple[Array, State]:
        """Begin an episode."""
        return _reset_by_key(self.variant, key, params)  # type: ignore[no-any-return]

    def step_env(self, key: Array | None, state: State, action: Any, params: Params) -> Transition:
        """Play a step without a reset at the end."""
        return _step_env(self.variant, key, state, action, params)  # type: ignore[no-any-return]

    def get_obs(self, state: State, params: Params | None = None, key: Array | None = None) -> Array:
        """Return what Blue sees."""
        return observe(state)

    def is_terminal(self, state: State, params: Params | None = None) -> Array:
        """Return whether the episode is over, which here means truncated."""
        return has_ended(state, self._or_default(params))

    def discount(self, state: State, params: Params | None = None) -> Array:
        """Return 1: the end of an episode is a truncation, so what would come after it still counts."""
        return jnp.ones_like(state.t, jnp.float32)

    def action_space(self, params: Params | None = None) -> Any:
        """Return what an action can be."""
        return gymnax_spaces.action_space(self.variant)

    def observation_space(self, params: Params | None = None) -> Any:
        """Return what an observation can be."""
        return gymnax_spaces.box(0.0, 1.0, (self.variant.width,))

    # --- more than Gymnax asks for

    @staticmethod
    def streams(seeds: Sequence[int]) -> NDArray[np.uint32]:
        """Return the random streams of these seeds, (n, 4), for `reset_seeded`: `VectorEnv` seeds s, s + 1, ..."""
        return seed_streams(list(seeds))

    def reset_seeded(self, stream: Array, params: Params | None = None) -> tuple[Array, State]:
        """Begin an episode whose draws come from a stream, uint32[4]; give `step` None as the key to go on with it."""
        return _reset(self.variant, stream, self._or_default(params))  # type: ignore[no-any-return]

    def get_avail_actions(self, state: State, params: Params | None = None, by_truth: bool = False) -> Array:
        """Return which actions can have an effect, as `VectorEnv.action_masks` does."""
        return _allowed(self.variant, state, self._or_default(params), by_truth)

    def _or_default(self, params: Params | None) -> Params:
        return self._params if params is None else params


def _begin(variant: Variant, words: Words, params: Params) -> tuple[Array, State]:
    state = begin(variant, params, words)
    return observe(state), state


def _play_on(variant: Variant, key: Array | None, state: State, action: Any, params: Params) -> Transition:
    """Play a step, and leave the state as it then is."""
    if key is not None:
        state = state._replace(stream=words_of_key(key))
    blue, red = _read_action(variant, action)
    state, reward = play(variant, state, params, blue, red)
    obs, done = observe(state), has_ended(state, params)
    info = {
        "terminated": jnp.zeros_like(done),
        "truncated": done,
        "final_observation": obs,
        "discount": jnp.ones_like(state.t, jnp.float32),
        "episode_return": to_float(state.last_total),
        "episode_length": state.last_length,
    }
    return obs, state, to_float(reward), done, info


def _play_and_reset(variant: Variant, key: Array | None, state: State, action: Any, params: Params) -> Transition:
    """Play a step, and begin the next episode if it ended one; the first observation is all zeros."""
    obs, state, reward, done, info = _play_on(variant, key, state, action, params)
    return jnp.where(done, 0, obs), begin_if(done, variant, state, params), reward, done, info


def _read_action(variant: Variant, action: Any) -> tuple[Array, RedChoice | None]:
    """Return Blue's action in the challenge's numbering, and an external attacker's."""
    blue, red = (action["blue"], action["red"]) if variant.takes_red_actions else (action, None)
    ids = ACTION_IDS[variant.actions]
    blue = jnp.clip(jnp.asarray(blue, jnp.int32), 0, len(ids) - 1)
    if len(ids) < NUM_ACTIONS:
        blue = jnp.asarray(ids, jnp.int32)[blue]
    if red is None:
        return blue, None
    kind, target = jnp.clip(jnp.asarray(red, jnp.int32), 0, np.array([RED_KINDS - 1, NUM_HOSTS - 1], np.int32))
    return blue, RedChoice(kind, target)


_reset = jax.jit(lambda variant, stream, params: _begin(variant, words_of(stream), params), static_argnums=0)
_reset_by_key = jax.jit(lambda variant, key, params: _begin(variant, words_of_key(key), params), static_argnums=0)
_step = jax.jit(_play_and_reset, static_argnums=0)
_step_env = jax.jit(_play_on, static_argnums=0)
_allowed = jax.jit(allowed, static_argnums=(0, 3))
