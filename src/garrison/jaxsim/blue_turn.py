"""What Blue's actions do (rules §6), and which can have an effect."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from garrison.cage2.action_sets import ACTION_IDS
from garrison.cage2.names import (
    DECOY_BLOCK,
    FIRST_BLOCK,
    NUM_ACTIONS,
    NUM_DECOYS,
    NUM_HOSTS,
    REMOVE_BLOCK,
    RESTORE_BLOCK,
    Success,
)
from garrison.jaxsim.lookup import at, bit_of, settled
from garrison.jaxsim.params import Params
from garrison.jaxsim.state import HOST_IDS, State
from garrison.jaxsim.stream import Array
from garrison.jaxsim.variant import Variant

_SLOT_IDS = np.arange(NUM_HOSTS * NUM_DECOYS, dtype=np.int32)
_SLOT_HOSTS = _SLOT_IDS // NUM_DECOYS


class BlueTurn(NamedTuple):
    """What Blue did in this step."""

    bit: Array
    """Mask of the host that it acted on; 0 for Sleep and Monitor"""
    is_remove: Array
    is_restore: Array
    found: Array
    """Analyse found malware"""
    placed: Array
    """The host on which a decoy was accepted, else -1"""


def defend(state: State, params: Params, action: Array) -> tuple[State, BlueTurn]:
    """Carry out Blue's action, one of the challenge's 145."""
    place = action - FIRST_BLOCK
    is_on_host = place >= 0
    block = lax.div(jnp.maximum(place, 0), jnp.int32(NUM_HOSTS))
    host = jnp.where(is_on_host, place - block * NUM_HOSTS, -1)
    bit = bit_of(host)
    is_remove = is_on_host & (block == REMOVE_BLOCK)
    is_restore = block == RESTORE_BLOCK
    is_decoy = (block >= DECOY_BLOCK) & (block < RESTORE_BLOCK)
    decoy = jnp.maximum(block - DECOY_BLOCK, 0)
    is_accepted = is_decoy & fits(params, at(state.ports, host), host, decoy)
    host, decoy, is_accepted = settled(state.t, host, decoy, is_accepted)
    found = is_on_host & (block == 0) & (state.malware & bit != 0)

    here = host == HOST_IDS
    removed, restored, placed_here = here & is_remove, here & is_restore, here & is_accepted
    cleared = removed | restored
    first_session = restored & (params.foothold == HOST_IDS)
    gone = jnp.where(is_restore, bit & ~bit_of(params.foothold), 0)  # of the foothold, Red's first session stays
    opened = at(params.opens, decoy).astype(jnp.int16)
    is_service = is_restore & (host == params.service_host)
    state = state._replace(
        sessions=jnp.where(restored, first_session.astype(jnp.int16), state.sessions)
        - jnp.where(removed, state.removable, 0),
        stale=state.stale + jnp.where(cleared, state.removable, 0) + jnp.where(restored, state.reported, 0),
        removable=jnp.where(cleared, 0, state.removable),
        lead=jnp.where(cleared, 0, state.lead),
        hidden=jnp.where(restored, 0, state.hidden),
        reported=jnp.where(restored, 0, state.reported),
        held=jnp.where(is_remove, state.held & (~bit | state.fixed), state.held & ~gone),
        privileged=state.privileged & ~gone,
        fixed=state.fixed & ~gone,
        fixed_privileged=state.fixed_privileged & ~gone,
        decoys=jnp.where(is_restore & (host == _SLOT_HOSTS), 0, state.decoys)
        + (is_accepted & (host * NUM_DECOYS + decoy == _SLOT_IDS)).astype(jnp.int16),
        ports=jnp.where(
            restored,
            params.image_ports.astype(jnp.int16),
            jnp.where(placed_here, state.ports | opened, state.ports),
        ),
        sockets=jnp.where(
            restored, params.image_sockets.astype(jnp.int16), state.sockets + placed_here.astype(jnp.int16)
        ),
        malware=jnp.where(is_restore, state.malware & ~bit, state.malware),
        restored=jnp.where(is_restore, state.restored | bit, state.restored),
        ot_running=jnp.where(is_service, 1, state.ot_running),
        ot_active=jnp.where(is_service, 1, state.ot_active),
        ot_stoppable=jnp.where(is_service, 0, state.ot_stoppable),  # quirk Q1: from now on Impact cannot stop it
        blue_action=action,
        blue_success=jnp.where(
            action == 0, Success.UNKNOWN, jnp.where(is_decoy & ~is_accepted, Success.NO, Success.YES)
        ),
    )
    return state, BlueTurn(bit, is_remove, is_restore, found, jnp.where(is_accepted, host, -1))


def fits(params: Params, ports: Array, host: Array, decoy: Array) -> Array:
    """Return whether `decoy` can be placed on `host` while it listens on `ports`."""
    system = at(params.only_on, decoy)
    runs_here = (system < 0) | (system == at(params.windows, host))
    return runs_here & (ports & at(params.checks, decoy) == 0)


def allowed(variant: Variant, state: State, params: Params, by_truth: bool = False) -> Array:
    """Return which actions can have an effect: what Blue can know, or with `by_truth` what is the case."""
    everywhere = jnp.ones(NUM_HOSTS, jnp.bool_)
    finds = removes = everywhere
    if by_truth:
        finds = (state.malware >> HOST_IDS) & 1 == 1
        removes = (state.removable > 0) | ((state.belief_high >> HOST_IDS) & 1 == 1)
    runs = (params.only_on[:, None] < 0) | (params.only_on[:, None] == params.windows)
    decoys = runs & (state.ports & params.checks[:, None] == 0)
    masks = jnp.concatenate([jnp.array([True, False]), finds, removes, decoys.reshape(-1), everywhere])
    ids = ACTION_IDS[variant.actions]
    return masks if len(ids) == NUM_ACTIONS else masks[ids]
