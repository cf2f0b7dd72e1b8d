"""What a defender can remember: a summary of its own observations and actions, as further bits of observation.

Everything here follows from the 52 bits that Blue was shown and from the actions that it took; nothing is read from the
true state. The kernels work on any record with the fields of `MEMORY`: the engine's own state while training, or an
agent's memory where the agent is given the 52 bits only, as in the challenge.
"""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.defend import fits
from garrison.cage2.defender_history import forget_history, remember_history
from garrison.cage2.layout import Record
from garrison.cage2.names import (
    DECOY_BLOCK,
    FIRST_BLOCK,
    NUM_DECOYS,
    NUM_HOSTS,
    RESTORE_BLOCK,
    Host,
    Observation,
    Suspect,
)
from garrison.cage2.observe import BITS_PER_HOST, NUM_BITS
from garrison.cage2.scenario import load_scenario
from garrison.jit import kernel, plain


def _decoy_slots() -> tuple[tuple[int, int], ...]:
    """Return the decoys that a pristine host accepts (rules §2.4), as (host, decoy)."""
    sc = load_scenario().view(np.recarray)[0]
    every = product(range(NUM_HOSTS), range(NUM_DECOYS))
    return tuple((h, d) for h, d in every if plain(fits)(sc, int(sc.image_ports[h]), h, d))


DECOY_SLOTS = _decoy_slots()
_SLOT_HOSTS = np.array([host for host, _ in DECOY_SLOTS])
_SLOT_DECOYS = np.array([decoy for _, decoy in DECOY_SLOTS])
CLOCK = np.array([1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90])  # steps taken, at least
SINCE = np.array([1, 2, 3, 4, 6, 8, 12, 20])  # steps since Red was last seen, at least

# The groups of bits behind the first 52, in order.
GROUPS = {
    "scan seen on host": NUM_HOSTS,
    "exploit seen on host since its last Restore": NUM_HOSTS,
    "host of the first scan": NUM_HOSTS,
    "host of the last event": NUM_HOSTS,
    "the last event was an exploit": 1,
    "steps since the last event": len(SINCE),
    "restored before": NUM_HOSTS,
    "decoy in place": len(DECOY_SLOTS),
    "Red looks like B_line, like Meander": 2,
    "steps taken": len(CLOCK),
}
NUM_REMEMBERED = NUM_BITS + sum(GROUPS.values())


@kernel
def forget(memory: Record, sc: Record) -> None:
    """Begin an episode."""
    memory.clock = 0
    memory.scan_seen = 0
    memory.exploit_seen = 0
    memory.first_scan = -1
    memory.last_event = -1
    memory.last_was_exploit = 0
    memory.since_event = 0
    memory.own_restores = 0
    memory.suspect = Suspect.NOBODY
    for h in range(NUM_HOSTS):
        memory.own_ports[h] = sc.image_ports[h]
        memory.own_decoys[h] = 0
    if sc.observation == Observation.HISTORY:
        forget_history(memory)


@kernel
def remember(memory: Record, sc: Record, action: int, bits: NDArray[np.int8]) -> None:
    """Take in Blue's action and the 52 bits that it was shown afterwards."""
    memory.clock += 1
    _remember_action(memory, sc, action)
    memory.since_event += 1
    host, is_exploit = -1, False
    for h in range(NUM_HOSTS):
        if bits[BITS_PER_HOST * h]:
            host, is_exploit = h, bits[BITS_PER_HOST * h + 1] != 0
    if sc.observation == Observation.HISTORY:
        remember_history(memory, action, host, is_exploit)
    is_scan = host >= 0 and not is_exploit
    if memory.suspect == Suspect.SOMEBODY:
        # B_line exploits what it scanned first; Meander scans on, elsewhere.
        is_elsewhere = is_scan and host != memory.first_scan
        memory.suspect = Suspect.MEANDER if is_elsewhere else Suspect.BLINE
    if host < 0:
        return
    if is_exploit:
        memory.exploit_seen = int(memory.exploit_seen) | (1 << host)
    else:
        memory.scan_seen = int(memory.scan_seen) | (1 << host)
        if memory.first_scan < 0:
            memory.first_scan = host
            memory.suspect = Suspect.MEANDER if host == Host.USER0 else Suspect.SOMEBODY
    memory.last_event = host
    memory.last_was_exploit = 1 if is_exploit else 0
    memory.since_event = 0


@kernel
def _remember_action(memory: Record, sc: Record, action: int) -> None:
    """Keep track of decoys: whether one is accepted follows from the image and the decoys placed so far."""
    if action < FIRST_BLOCK:
        return
    block = (action - FIRST_BLOCK) // NUM_HOSTS
    host = (action - FIRST_BLOCK) % NUM_HOSTS
    if block == RESTORE_BLOCK:
        memory.own_restores = int(memory.own_restores) | (1 << host)
        memory.exploit_seen = int(memory.exploit_seen) & ~(1 << host)
        memory.own_ports[host] = sc.image_ports[host]
        memory.own_decoys[host] = 0
    elif block >= DECOY_BLOCK:
        decoy = block - DECOY_BLOCK
        if fits(sc, int(memory.own_ports[host]), host, decoy):
            memory.own_ports[host] |= sc.opens[decoy]
            memory.own_decoys[host] = int(memory.own_decoys[host]) | (1 << decoy)


@kernel
def write_memory(memory: Record, row: NDArray[np.int8]) -> None:
    """Write the remembered bits behind the 52 of `row`."""
    at = NUM_BITS
    for h in range(NUM_HOSTS):
        row[at + h] = (int(memory.scan_seen) >> h) & 1
        row[at + NUM_HOSTS + h] = (int(memory.exploit_seen) >> h) & 1
        row[at + 2 * NUM_HOSTS + h] = 1 if memory.first_scan == h else 0
        row[at + 3 * NUM_HOSTS + h] = 1 if memory.last_event == h else 0
    at += 4 * NUM_HOSTS
    row[at] = memory.last_was_exploit
    at += 1
    for k in range(len(SINCE)):
        row[at + k] = 1 if memory.last_event >= 0 and memory.since_event >= SINCE[k] else 0
    at += len(SINCE)
    for h in range(NUM_HOSTS):
        row[at + h] = (int(memory.own_restores) >> h) & 1
    at += NUM_HOSTS
    for k in range(len(_SLOT_HOSTS)):
        row[at + k] = (int(memory.own_decoys[_SLOT_HOSTS[k]]) >> _SLOT_DECOYS[k]) & 1
    at += len(_SLOT_HOSTS)
    row[at] = 1 if memory.suspect == Suspect.BLINE else 0
    row[at + 1] = 1 if memory.suspect == Suspect.MEANDER else 0
    at += 2
    for k in range(len(CLOCK)):
        row[at + k] = 1 if memory.clock >= CLOCK[k] else 0
