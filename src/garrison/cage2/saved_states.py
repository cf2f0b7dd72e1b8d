"""What a batch saves of its environments: records of `STATE`, or with CybORG's draws both records in one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import DETAILED_STATE, DETAILS, STATE, STATE_BEFORE_HISTORY
from garrison.errors import UserError

Records = NDArray[np.void]


def joined(envs: Records, details: Records | None) -> Records:
    """Return a copy of some environments as one array of records."""
    if details is None:
        return envs.copy()
    state = np.zeros(envs.shape, DETAILED_STATE)
    for part in (envs, details):
        for name in _fields(part):
            state[name] = part[name]
    return state


def split(state: Any, with_details: bool) -> tuple[Records, Records | None]:
    """Return the two records of saved environments; raise if a batch of this kind cannot go on with them."""
    state = _upgraded(state)
    got = state.dtype if isinstance(state, np.ndarray) else type(state).__name__
    if got == (STATE if with_details else DETAILED_STATE):
        sources = ("stream", "cyborg") if with_details else ("cyborg", "stream")
        raise UserError(
            f"the state comes from a batch with source={sources[0]!r}, and this one has source={sources[1]!r}: "
            "their random draws are not the same kind."
        )
    if got != (DETAILED_STATE if with_details else STATE):
        raise UserError(f"the state has another layout than this version of Garrison uses: {str(got)[:80]}.")
    if not with_details:
        return state, None
    envs, details = np.zeros(state.shape, STATE), np.zeros(state.shape, DETAILS)
    for part in (envs, details):
        for name in _fields(part):
            part[name] = state[name]
    return envs, details


def _upgraded(state: Any) -> Any:
    """Return states of an older layout in the present one: what they do not have is empty."""
    if not isinstance(state, np.ndarray) or state.dtype != STATE_BEFORE_HISTORY:
        return state
    upgraded = np.zeros(state.shape, STATE)
    for name in _fields(state):
        upgraded[name] = state[name]
    return upgraded


def _fields(records: Records) -> list[str]:
    return [name for name in records.dtype.names or () if name != "unused"]
