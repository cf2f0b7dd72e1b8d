"""The turn order, and how an episode begins and ends."""

import jax
import jax.numpy as jnp

from garrison.cage2.names import NUM_REDS
from garrison.jaxsim.blue_turn import BlueTurn, defend
from garrison.jaxsim.draws import Draws, StreamDraws, TapeDraws, TapeStep
from garrison.jaxsim.params import Params
from garrison.jaxsim.red_choice import RedChoice, choose_red_action
from garrison.jaxsim.red_turn import attack
from garrison.jaxsim.sight import notice, remember
from garrison.jaxsim.state import HOST_IDS, State, first_state
from garrison.jaxsim.stream import Array, Odds, Words, happens, next_word
from garrison.jaxsim.variant import Variant


def play(
    variant: Variant,
    state: State,
    params: Params,
    action: Array,
    red_action: RedChoice | None = None,
    tape: TapeStep | None = None,
) -> tuple[State, Array]:
    """Play one turn and return Blue's reward in thousandths (rules §5). Green never does anything.

    Args:
        variant: what is compiled in.
        state: one environment, whose episode goes on.
        params: the numbers of the game.
        action: one of the challenge's 145.
        red_action: what an external attacker does, where one may play.
        tape: this step's recorded draws, in the place of the state's stream.
    """
    draws: Draws = StreamDraws(state.stream, state.t) if tape is None else TapeDraws(tape)
    # The choice reads nothing that Blue's action changes.
    state, choice = choose_red_action(variant, state, params, draws, red_action)
    state, blue = defend(state, params, action)
    state, events = attack(state, params, draws, choice)
    reward = charge(state, params, blue)
    state = notice(state, params, blue, events)
    if state.remembered is not None:
        state = state._replace(remembered=remember(state, state.remembered, blue))
    if isinstance(draws, StreamDraws):
        state = state._replace(stream=draws.stream)
    t = state.t + 1
    total = state.total + reward
    ends = t >= params.max_steps_in_episode
    return state._replace(
        t=t,
        total=total,
        last_total=jnp.where(ends, total, state.last_total),
        last_length=jnp.where(ends, t, state.last_length),
    ), reward


def charge(state: State, params: Params, blue: BlueTurn) -> Array:
    """Return the step's reward in thousandths (rules §10)."""
    held = jnp.where((state.privileged >> HOST_IDS) & 1 == 1, params.confidentiality, 0)
    service = jnp.where(state.ot_running == 1, 0, params.service_cost)
    action = jnp.where(blue.is_restore, params.restore_cost, 0)
    return -(jnp.sum(held, dtype=jnp.int32) + service + action)


def has_ended(state: State, params: Params) -> Array:
    """Return whether the episode is over: CAGE-2 never terminates, it is truncated."""
    return state.t >= params.max_steps_in_episode


def begin(variant: Variant, params: Params, stream: Words, before: Array | None = None) -> State:
    """Return a new episode's state; `before` is who attacked, for odds that leave a gap above the last attacker."""
    if not variant.is_drawn:
        return first_state(variant, params, stream, params.red)
    word, stream = next_word(stream)
    red = jnp.int32(0) if before is None else before
    for code in reversed(range(NUM_REDS)):
        chance = Odds(params.red_odds.below[code], params.red_odds.certain[code])
        red = jnp.where(happens(word, chance), code, red)
    return first_state(variant, params, stream, red)


def begin_again(variant: Variant, state: State, params: Params) -> State:
    """Return the next episode of an environment: its stream goes on, and it knows how the last one ended."""
    new = begin(variant, params, state.stream, state.red)
    return new._replace(last_total=state.last_total, last_length=state.last_length)


def begin_if(condition: Array, variant: Variant, state: State, params: Params) -> State:
    """Return the next episode where the condition holds, elsewhere the state as it is."""
    new = begin_again(variant, state, params)
    chosen: State = jax.tree.map(lambda n, o: jnp.where(condition, n, o), new, state)
    return chosen
