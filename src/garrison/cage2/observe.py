"""What Blue sees: its table of beliefs, and the table as 52 bits (rules §9)."""

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import Record
from garrison.cage2.names import (
    FIRST_BLOCK,
    NUM_HOSTS,
    REMOVE_BLOCK,
    RESTORE_BLOCK,
    Activity,
    Belief,
)
from garrison.jit import kernel

BITS_PER_HOST = 4
NUM_BITS = NUM_HOSTS * BITS_PER_HOST


@kernel
def notice(env: Record, sc: Record) -> None:
    """Update Blue's table from its own action and the events of this step."""
    action = int(env.blue_action)
    block = (action - FIRST_BLOCK) // NUM_HOSTS if action >= FIRST_BLOCK else -1
    host = (action - FIRST_BLOCK) % NUM_HOSTS
    if block == RESTORE_BLOCK:
        env.belief[host] = Belief.NO
    elif block == REMOVE_BLOCK and env.belief[host] != Belief.NO:
        env.belief[host] = Belief.UNKNOWN
    env.activity = classify(env, sc) if env.events > 0 else Activity.NONE
    env.active_host = env.red_target if env.activity != Activity.NONE else -1
    if env.activity == Activity.EXPLOIT:
        env.belief[env.red_target] = Belief.USER  # quirk Q6: also where Privileged was believed
    if env.found:
        env.belief[host] = Belief.PRIVILEGED


@kernel
def classify(env: Record, sc: Record) -> int:
    """Return what Red's events on its target look like, together with a decoy that Blue placed there in this step."""
    is_decoy_here = env.placed == env.red_target
    entries = int(env.events) + (1 if is_decoy_here else 0)
    if entries >= 3 and env.event_ports >= 3:
        return Activity.SCAN
    if env.event_shell or (entries >= 3 and env.event_ports == 1):
        return Activity.EXPLOIT
    if is_decoy_here and sc.decoy_hides:
        return Activity.NONE
    return Activity.SCAN


@kernel
def write_observation(env: Record, row: NDArray[np.int8]) -> None:
    """Write Blue's 52 bits: activity and belief of each host."""
    for h in range(NUM_HOSTS):
        belief = int(env.belief[h])
        row[BITS_PER_HOST * h] = 0
        row[BITS_PER_HOST * h + 1] = 0
        row[BITS_PER_HOST * h + 2] = belief & 1
        row[BITS_PER_HOST * h + 3] = belief >> 1
    if env.active_host >= 0:
        row[BITS_PER_HOST * int(env.active_host)] = 1
        row[BITS_PER_HOST * int(env.active_host) + 1] = int(env.activity) >> 1
