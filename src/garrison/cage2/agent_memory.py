"""An agent's own memory in batches: the observations of a batch, made outside the simulator.

An agent that is given the challenge's 52 bits keeps one `MEMORY` record per environment and gets the same observations
and masks as the batch that it was trained in.
"""

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.defend import allow
from garrison.cage2.defender_memory import forget, remember
from garrison.cage2.observation_sets import write_further_bits
from garrison.cage2.observe import NUM_BITS
from garrison.jit import kernel

Records = NDArray[np.void]


@kernel(cached=True)
def remember_batch(
    memories: Records,
    scenarios: Records,
    starts: NDArray[np.bool_],
    actions: NDArray[np.int64],
    bits: NDArray[np.int8],
    rows: NDArray[np.int8],
) -> None:
    """Take in the last actions and the bits shown after them, or begin an episode where `starts` is set.

    Writes the observation that the scenario names into `rows`.
    """
    sc = scenarios[0]
    for i in range(len(memories)):
        if starts[i]:
            forget(memories[i], sc)
        else:
            remember(memories[i], sc, actions[i], bits[i])
        for b in range(NUM_BITS):
            rows[i, b] = bits[i, b]
        write_further_bits(memories[i], int(sc.observation), rows[i])


@kernel(cached=True)
def allow_batch(memories: Records, scenarios: Records, masks: NDArray[np.bool_]) -> None:
    """Write (n, 145): False for Monitor, and where a decoy is known to be refused."""
    sc = scenarios[0]
    for i in range(len(memories)):
        allow(sc, memories[i].own_ports, masks[i])
