"""A batch of states as records of the compiled engine, `garrison.cage2.layout.STATE`, and back.

So a state that one engine has saved goes on in the other, and what reads records (tables, pictures, the checks of saved
states) is written once.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import ACTION_TERM, NUM_TERMS, SERVICE_TERM
from garrison.cage2.names import FIRST_BLOCK, NUM_DECOYS, NUM_HOSTS, NUM_SUBNETS, RESTORE_BLOCK, Access, Suspect
from garrison.cage2.reward import RESOLUTION
from garrison.jaxsim.params import Params
from garrison.jaxsim.state import Bline, Meander, Remembered, State, first_state
from garrison.jaxsim.stream import Words
from garrison.jaxsim.variant import Variant

_SAME = (
    *("t", "last_length", "sessions", "removable", "hidden", "lead", "reported", "stale", "held", "ports", "sockets"),
    *("ot_running", "ot_stoppable", "ot_active", "ot_known", "red", "red_ports", "red_kind", "red_target"),
    *("red_exploit", "red_success", "red_answered", "blue_action", "blue_success", "activity", "active_host"),
)
"""Fields that both engines keep in the same form"""
_MASKS = {
    "malware": ("malware", NUM_HOSTS),
    "restored": ("patched", NUM_HOSTS),
    "known_address": ("known_address", NUM_HOSTS),
    "known_host": ("known_host", NUM_HOSTS),
    "known_subnet": ("known_subnet", NUM_SUBNETS),
}
"""Masks here, and the arrays of zeros and ones that they are there, with their lengths"""


def to_records(state: State, scenario: NDArray[np.void], records: NDArray[np.void]) -> None:
    """Write a batch of states into records, as the compiled engine would have them after the same steps.

    `length`, `source` and `done` are left as they are; what happened inside the last step (`placed`, `found` and the
    events), which nothing reads any more, is as after a reset.
    """
    state = jax.device_get(state)
    for name in _SAME:
        records[name] = getattr(state, name)
    for name, (field, count) in _MASKS.items():
        records[field] = _bits(getattr(state, name), count)
    records["stream"] = np.stack(state.stream, axis=1)
    records["total"] = state.total / RESOLUTION
    records["last_total"] = state.last_total / RESOLUTION
    records["decoys"] = state.decoys.reshape(len(records), NUM_HOSTS, NUM_DECOYS)
    records["access"] = _bits(state.held) + _bits(state.privileged)
    records["oldest_fixed"] = _bits(state.fixed) + _bits(state.fixed_privileged)
    records["access_oldest"] = np.where(state.lead > 0, Access.USER, records["oldest_fixed"])
    records["belief"] = _bits(state.belief_low) + 2 * _bits(state.belief_high)
    records["reward_terms"] = reward_terms(records, scenario)
    _write_attackers(state, records)
    _write_memory(state, scenario, records)
    records["placed"] = -1
    for name in ("found", "events", "event_ports", "event_shell"):
        records[name] = 0


def from_records(records: NDArray[np.void], variant: Variant, params: Params) -> State:
    """Return a batch of states from records; `params` are those of one environment."""
    masks = {name: _mask(records[field]) for name, (field, _) in _MASKS.items()}
    bline = Bline(*(records[f"bline_{name}"] for name in Bline._fields))
    meander = Meander(*(records[name] for name in Meander._fields))
    remembered = Remembered(*(records[name] for name in Remembered._fields))
    like: State = jax.eval_shape(partial(first_state, variant), params, Words(*records["stream"][0]), params.red)
    given = State(
        **{name: records[name] for name in _SAME},
        **masks,
        stream=Words(*records["stream"].T),
        total=np.round(records["total"] * RESOLUTION),
        last_total=np.round(records["last_total"] * RESOLUTION),
        privileged=_mask(records["access"] == Access.PRIVILEGED),
        fixed=_mask(records["oldest_fixed"] != Access.NONE),
        fixed_privileged=_mask(records["oldest_fixed"] == Access.PRIVILEGED),
        decoys=records["decoys"],
        bline=bline if like.bline is not None else None,
        meander=meander if like.meander is not None else None,
        belief_low=_mask(records["belief"] & 1),
        belief_high=_mask(records["belief"] >> 1),
        remembered=remembered if like.remembered is not None else None,
    )

    def placed(values: NDArray[Any], one: Any) -> Any:
        return jnp.asarray(values.reshape(len(records), *one.shape).astype(one.dtype))

    state: State = jax.tree.map(placed, given, like)
    return state


def reward_terms(records: Any, scenario: NDArray[np.void]) -> NDArray[np.float64]:
    """Return the terms of each environment's last reward, as `garrison.cage2.reward.charge` writes them."""
    sc = scenario[0]
    is_restore = records["blue_action"] >= FIRST_BLOCK + RESTORE_BLOCK * NUM_HOSTS
    terms = np.zeros((len(is_restore), NUM_TERMS))
    terms[:, :NUM_HOSTS] = np.where(records["access"] == Access.PRIVILEGED, -sc["confidentiality"], 0.0)
    terms[:, SERVICE_TERM] = np.where(records["ot_running"] == 1, 0.0, -sc["service_cost"])
    terms[:, ACTION_TERM] = -np.where(is_restore, sc["restore_cost"], 0.0)
    terms[records["t"] == 0] = 0.0
    return terms


def _write_attackers(state: State, records: NDArray[np.void]) -> None:
    none = -np.ones(len(records), np.int8)
    bline = state.bline or Bline(none + 1, none + 1, none)
    meander = state.meander or Meander(none + 1, none + 1, none + 1, none + 1, none + 1, none, none)
    for name, values in bline._asdict().items():
        records[f"bline_{name}"] = values
    for name, values in meander._asdict().items():
        records[name] = values


def _write_memory(state: State, scenario: NDArray[np.void], records: NDArray[np.void]) -> None:
    """Write what a defender can remember; where the observation does not need it, what a reset leaves."""
    if state.remembered is None:
        for name in ("clock", "scan_seen", "exploit_seen", "last_was_exploit", "since_event", "own_restores"):
            records[name] = 0
        records["first_scan"] = records["last_event"] = -1
        records["suspect"] = Suspect.NOBODY
        records["own_ports"] = scenario["image_ports"]
        records["own_decoys"] = 0
        return
    for name, values in state.remembered._asdict().items():
        records[name] = values
    records["clock"] = state.t
    records["own_restores"] = state.restored
    records["own_ports"] = state.ports
    records["own_decoys"] = _mask(records["decoys"] > 0)


def _bits(mask: NDArray[Any], count: int = NUM_HOSTS) -> NDArray[Any]:
    return (mask[:, None] >> np.arange(count)) & 1


def _mask(bits: NDArray[Any]) -> NDArray[Any]:
    """Return the last axis, zeros and ones, as a number."""
    mask: NDArray[Any] = (bits.astype(np.int32) << np.arange(bits.shape[-1])).sum(axis=-1)
    return mask
