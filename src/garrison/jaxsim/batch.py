"""Many environments at once, as Gymnasium's vector environments are stepped: resets by a mask, three autoreset modes.

One program serves all modes, because compiling it takes many times as long as running it.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from garrison.jaxsim.blue_turn import allowed
from garrison.jaxsim.params import Params
from garrison.jaxsim.red_choice import RedChoice
from garrison.jaxsim.sight import observe
from garrison.jaxsim.state import State
from garrison.jaxsim.stream import Array, words_of
from garrison.jaxsim.true_state import true_state
from garrison.jaxsim.turn import begin, begin_if, has_ended, play
from garrison.jaxsim.variant import Variant


class Batch(NamedTuple):
    """The environments; each field has one entry for each of them."""

    state: State
    length: Array
    """Steps after which an episode is truncated"""
    is_over: Array
    """The episode was truncated, and the next step begins another one instead of playing"""


class Played(NamedTuple):
    """What a step shows; each field has one entry for each environment."""

    obs: Array
    final_obs: Array
    """What was shown before a reset in the same step"""
    reward: Array
    """In thousandths"""
    ended: Array
    last_total: Array
    """In thousandths"""
    last_length: Array


@partial(jax.jit, static_argnums=0)
def begin_episodes(
    variant: Variant, params: Params, batch: Batch, mask: Array, is_seeded: Array, streams: Array
) -> tuple[Batch, Array]:
    """Begin episodes where `mask` says so, with the streams (n, 4) where seeded; return all observations too."""

    def one(batch: Batch, mask: Array, is_seeded: Array, stream: Array) -> tuple[Batch, Array]:
        old = batch.state
        words = jax.tree.map(lambda new, now: jnp.where(is_seeded, new, now), words_of(stream), old.stream)
        begun = begin(variant, _params_of_one(params, batch), words, old.red)
        state = jax.tree.map(lambda new, now: jnp.where(mask, new, now), begun, old)
        return batch._replace(state=state, is_over=batch.is_over & ~mask), observe(state).astype(jnp.int8)

    begun: tuple[Batch, Array] = jax.vmap(one)(batch, mask, is_seeded, streams)
    return begun


@partial(jax.jit, static_argnums=0)
def step_episodes(
    variant: Variant, params: Params, batch: Batch, blue: Array, red: Array, resets_at_once: Array
) -> tuple[Batch, Played]:
    """Play a step everywhere, or begin an episode where the last one is over.

    Args:
        variant: what is compiled in.
        params: the numbers of the game, less what each environment has for itself.
        batch: the environments.
        blue: (n,) actions, of the challenge's 145.
        red: (n, 2) kinds and targets of an external attacker, where one may play.
        resets_at_once: whether an episode that ends begins again in the same step.
    """

    def one(batch: Batch, blue: Array, red: Array) -> tuple[Batch, Played]:
        mine, is_over = _params_of_one(params, batch), batch.is_over
        choice = RedChoice(red[0], red[1]) if variant.takes_red_actions else None
        played, reward = play(variant, batch.state, mine, blue, choice)
        ended = has_ended(played, mine) & ~is_over
        state = jax.tree.map(lambda old, new: jnp.where(is_over, old, new), batch.state, played)
        state = begin_if(is_over | (ended & resets_at_once), variant, state, mine)
        shown = Played(
            observe(state).astype(jnp.int8),
            observe(played).astype(jnp.int8),
            jnp.where(is_over, 0, reward),
            ended,
            state.last_total,
            state.last_length,
        )
        return batch._replace(state=state, is_over=ended & ~resets_at_once), shown

    stepped: tuple[Batch, Played] = jax.vmap(one)(batch, blue, red)
    return stepped


@partial(jax.jit, static_argnums=(0, 3))
def masks_of(variant: Variant, params: Params, batch: Batch, by_truth: bool) -> Array:
    """Return which actions can have an effect, (n, number of actions)."""
    return jax.vmap(lambda state: allowed(variant, state, params, by_truth))(batch.state)


@partial(jax.jit, static_argnums=2)
def truth_of(params: Params, batch: Batch, names: tuple[str, ...]) -> dict[str, Any]:
    """Return these fields of the true state; the others are not computed."""
    every = jax.vmap(lambda state: true_state(state, params))(batch.state)
    return {name: getattr(every, name) for name in names}


def _params_of_one(params: Params, batch: Batch) -> Params:
    return params.replace(max_steps_in_episode=batch.length, red=batch.state.red)
