"""The observations that a batch can show: how long each is, and who writes it.

Every observation begins with the challenge's 52 bits (observe.py); here is what comes behind them. A writer reads only
what is in a `MEMORY` record, so that agents, which are given the 52 bits alone, can have the same observation
(agent_memory.py). `docs/extend/observation.md` shows how to add one.
"""

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.defender_history import NUM_HISTORY, write_history
from garrison.cage2.defender_memory import NUM_REMEMBERED, write_memory
from garrison.cage2.layout import Record
from garrison.cage2.names import OBSERVATIONS, Observation
from garrison.cage2.observe import NUM_BITS
from garrison.errors import choose
from garrison.jit import kernel

WIDTHS = {
    Observation.BITS: NUM_BITS,
    Observation.MEMORY: NUM_REMEMBERED,
    Observation.HISTORY: NUM_REMEMBERED + NUM_HISTORY,
}
"""How many bits each observation has, the order of a workflow not included"""


@kernel
def write_further_bits(memory: Record, observation: int, row: NDArray[np.int8]) -> None:
    """Write what the observation has behind the first 52 bits of `row`."""
    if observation in (Observation.MEMORY, Observation.HISTORY):
        write_memory(memory, row)
    if observation == Observation.HISTORY:
        write_history(memory, row, NUM_REMEMBERED)


def choose_observation(scenario: NDArray[np.void], name: str) -> int:
    """Set which observation the kernels write, and return its number of bits."""
    code = OBSERVATIONS.index(choose("observation", name, OBSERVATIONS))
    scenario["observation"] = code
    return WIDTHS[code]
