"""A belief as bits, for a network to read: how likely each of some facts about the true state is.

A fact has a bit for each of `CUTS`: whether it is likelier than that. Bits, because the learners read them by adding
up columns; two of the cuts are near 0 and 1, where it matters most whether Blue may rely on something.
"""

import numpy as np
from numpy.typing import NDArray

from garrison.belief.merging import States
from garrison.belief.updating import Counts, Weights
from garrison.cage2.layout import Record
from garrison.cage2.names import NUM_HOSTS, SCRIPTED_REDS, Access, Host, Red
from garrison.jit import kernel

CUTS = np.array([0.02, 0.3, 0.7, 0.98])
"""A bit says that a fact is likelier than one of these"""
PLAN = len(SCRIPTED_REDS)
"""Where the facts about B_line begin; before them: who attacks"""
PLAN_STATES = 15
ENTRY = PLAN + PLAN_STATES
"""The user host that B_line has drawn"""
ENTRIES = 5
HOSTS = ENTRY + ENTRIES
"""Where the facts about hosts begin, so many for each"""
HOST_FACTS = 10
NUM_FACTS = HOSTS + HOST_FACTS * NUM_HOSTS
NUM_BELIEF_BITS = NUM_FACTS * len(CUTS)


@kernel(cached=True)
def write_belief_bits(states: States, weights: Weights, places: Counts, counts: Counts, bits: NDArray[np.int8]) -> None:
    """Write the bits of each environment, (n, NUM_BELIEF_BITS), from its possible states and their weights.

    Those of an environment stand one behind the other from its place on.
    """
    odds = np.zeros(NUM_FACTS)
    for row in range(len(counts)):
        odds[:] = 0.0
        for i in range(places[row], places[row] + counts[row]):
            _add_facts(states[i], weights[i], odds)
        for fact in range(NUM_FACTS):
            for k in range(len(CUTS)):
                bits[row, fact * len(CUTS) + k] = odds[fact] > CUTS[k]


@kernel
def _add_facts(env: Record, weight: float, odds: Weights) -> None:
    """Add a possible state's weight to the facts that are true in it."""
    odds[env.red] += weight
    if env.red == Red.BLINE:
        odds[PLAN + env.bline_state] += weight
        if env.bline_user >= Host.USER0:
            odds[ENTRY + env.bline_user - Host.USER0] += weight
    is_meander = env.red == Red.MEANDER
    for h in range(NUM_HOSTS):
        fact = HOSTS + h * HOST_FACTS
        odds[fact] += weight * (env.access[h] >= Access.USER)
        odds[fact + 1] += weight * (env.access[h] >= Access.PRIVILEGED)
        odds[fact + 2] += weight * (env.hidden[h] > 0)
        odds[fact + 3] += weight * (env.removable[h] > 0)
        odds[fact + 4] += weight * (env.known_host[h] != 0)
        if is_meander:
            odds[fact + 5] += weight * ((env.scanned >> h) & 1)
            odds[fact + 6] += weight * ((env.exploited >> h) & 1)
            odds[fact + 7] += weight * ((env.escalated >> h) & 1)
            odds[fact + 8] += weight * (env.last_exploited == h)
            odds[fact + 9] += weight * (env.last_owned == h)
