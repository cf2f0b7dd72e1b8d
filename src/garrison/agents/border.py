"""What callers give to an agent, checked once at its border: inside, kernels take only what they were compiled for."""

from typing import Any

import numpy as np

from garrison.agents.protocol import Bits
from garrison.cage2.observe import NUM_BITS
from garrison.errors import UserError


def observed_bits(observations: Any, num_envs: int | None = None) -> Bits:
    """Return the observations of a batch as (n, 52) int8.

    Args:
        observations: what the caller gave; other types of numbers are converted.
        num_envs: how many environments the agent was told to begin with, where it matters.
    """
    bits = np.asarray(observations)
    if bits.ndim != 2 or bits.shape[1] != NUM_BITS or num_envs not in (None, len(bits)):
        rows = "n" if num_envs is None else num_envs
        hint = "One observation is a batch of one: act(observation[None])." if bits.ndim == 1 else ""
        if bits.ndim == 2 and bits.shape[1] == NUM_BITS:
            hint = f"The agent began with {num_envs} environments; call begin({len(bits)}) for as many as these."
        raise UserError(
            f"an agent acts on observations of the shape ({rows}, {NUM_BITS}); got {bits.shape}.", hint=hint
        )
    if bits.dtype.kind not in "biuf":
        raise UserError(f"an agent acts on numbers; got observations of the type {bits.dtype}.")
    return np.ascontiguousarray(bits, np.int8)
