"""The true state of an environment, spelled out: the fields of `garrison.cage2.Truth`, by the same names."""

from typing import NamedTuple

import jax.numpy as jnp

from garrison.cage2.names import FIRST_BLOCK, NUM_DECOYS, NUM_HOSTS, NUM_SUBNETS, RESTORE_BLOCK, Access
from garrison.jaxsim.params import Params
from garrison.jaxsim.price import to_float
from garrison.jaxsim.state import HOST_IDS, State
from garrison.jaxsim.stream import Array


class TrueState(NamedTuple):
    """What is really the case; `garrison.cage2.Truth` says what each field means."""

    access: Array
    access_oldest: Array
    sessions: Array
    hidden: Array
    malware: Array
    decoys: Array
    ports: Array
    red_ports: Array
    known_address: Array
    known_host: Array
    known_subnet: Array
    ot_running: Array
    ot_stoppable: Array
    ot_active: Array
    ot_known: Array
    red: Array
    red_kind: Array
    red_target: Array
    red_success: Array
    red_exploit: Array
    blue_action: Array
    blue_success: Array
    reward_terms: Array
    t: Array


def true_state(state: State, params: Params) -> TrueState:
    """Return the true state of one environment; what is not used of it costs nothing inside `jit`."""
    named = {name: getattr(state, name) for name in TrueState._fields if hasattr(state, name)}
    oldest_fixed = _codes(state.fixed, state.fixed_privileged)
    named |= {
        "access": _codes(state.held, state.privileged),
        "access_oldest": jnp.where(state.lead > 0, Access.USER, oldest_fixed),
        "decoys": state.decoys.reshape(NUM_HOSTS, NUM_DECOYS),
        "malware": host_bits(state.malware),
        "known_address": host_bits(state.known_address),
        "known_host": host_bits(state.known_host),
        "known_subnet": host_bits(state.known_subnet)[:NUM_SUBNETS],
        "reward_terms": to_float(_terms(state, params)),
    }
    return TrueState(**named)


def host_bits(mask: Array) -> Array:
    """Return a mask as 13 zeros and ones."""
    return (mask >> HOST_IDS) & 1


def _codes(some: Array, privileged: Array) -> Array:
    return jnp.where(host_bits(privileged) == 1, Access.PRIVILEGED, host_bits(some) * Access.USER)


def _terms(state: State, params: Params) -> Array:
    """Return the terms of the last reward in thousandths; none before the first step."""
    is_restore = state.blue_action >= FIRST_BLOCK + RESTORE_BLOCK * NUM_HOSTS
    hosts = host_bits(state.privileged) * params.confidentiality
    service = (1 - state.ot_running) * params.service_cost
    action = jnp.where(is_restore, params.restore_cost, 0)
    return jnp.where(state.t > 0, -jnp.concatenate([hosts, service[None], action[None]]), 0)
