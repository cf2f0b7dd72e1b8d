"""When things happened: further bits that a defender can remember, for the observation `history`.

Red's plans are told by their rhythm: what was seen three steps ago on which host, and whether Blue has cleaned it
since, says what Red can be doing now. Everything here follows from the 52 bits that Blue was shown and from its own
actions. Ages are kept as what is left of `REMEMBERED` steps, so that a record of zeros remembers nothing.
"""

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import NUM_PAST_EVENTS, NUM_WATCHED, Record
from garrison.cage2.names import (
    FIRST_BLOCK,
    NUM_HOSTS,
    REMOVE_BLOCK,
    RESTORE_BLOCK,
    Host,
)
from garrison.jit import kernel

WATCHED = (
    Host.ENTERPRISE0,
    Host.ENTERPRISE1,
    Host.ENTERPRISE2,
    Host.OP_SERVER0,
    Host.USER1,
    Host.USER2,
    Host.USER3,
    Host.USER4,
)
"""The hosts that are worth something to Red, and where Blue can do something about it."""
_PLACE = np.array([WATCHED.index(h) if h in WATCHED else -1 for h in range(NUM_HOSTS)])

REMEMBERED = 25
"""Steps after which a time is forgotten."""
MOST_EXPLOITS = 100
# An age below each of these is a bit. What was seen in this step, at age 0, is among the 52.
EVENT_AGES = np.array([2, 3, 4, 6, 10])
RESTORE_AGES = np.array([1, 3, 6, 12, REMEMBERED])
REMOVE_AGES = np.array([1, 2, 3, 5])
EXPLOIT_COUNTS = np.array([1, 2, 3])
NUM_KINDS = 5  # of Blue's last action: waiting, Analyse, Remove, a decoy, Restore

GROUPS = {
    "host was seen active so lately": NUM_WATCHED * len(EVENT_AGES),
    "host was restored so lately": NUM_WATCHED * len(RESTORE_AGES),
    "Remove on host so lately": NUM_WATCHED * len(REMOVE_AGES),
    "exploits seen on host, at least": NUM_WATCHED * len(EXPLOIT_COUNTS),
    "host of Blue's last action": NUM_WATCHED,
    "kind of Blue's last action": NUM_KINDS,
    "events of the three steps before": (NUM_PAST_EVENTS - 1) * (NUM_WATCHED + 2),
}
NUM_HISTORY = sum(GROUPS.values())


@kernel
def forget_history(memory: Record) -> None:
    """Begin an episode."""
    for k in range(NUM_WATCHED):
        memory.event_fresh[k] = 0
        memory.restore_fresh[k] = 0
        memory.remove_fresh[k] = 0
        memory.exploits_seen[k] = 0
    memory.own_action = 0
    for past in range(NUM_PAST_EVENTS):
        memory.past_events[past] = 0


@kernel
def remember_history(memory: Record, action: int, host: int, is_exploit: bool) -> None:
    """Take in Blue's action, and the host on which it saw something then; -1: on none."""
    for k in range(NUM_WATCHED):
        memory.event_fresh[k] = max(0, memory.event_fresh[k] - 1)
        memory.restore_fresh[k] = max(0, memory.restore_fresh[k] - 1)
        memory.remove_fresh[k] = max(0, memory.remove_fresh[k] - 1)
    memory.own_action = action
    if action >= FIRST_BLOCK:
        block = (action - FIRST_BLOCK) // NUM_HOSTS
        place = _PLACE[(action - FIRST_BLOCK) % NUM_HOSTS]
        if place >= 0 and block == RESTORE_BLOCK:
            memory.restore_fresh[place] = REMEMBERED
        elif place >= 0 and block == REMOVE_BLOCK:
            memory.remove_fresh[place] = REMEMBERED
    for past in range(NUM_PAST_EVENTS - 1, 0, -1):
        memory.past_events[past] = memory.past_events[past - 1]
    place = _PLACE[host] if host >= 0 else -1
    memory.past_events[0] = _event_code(place, is_exploit) if host >= 0 else 0
    if place >= 0:
        memory.event_fresh[place] = REMEMBERED
        if is_exploit:
            memory.exploits_seen[place] = min(MOST_EXPLOITS, memory.exploits_seen[place] + 1)


@kernel
def _event_code(place: int, is_exploit: bool) -> int:
    """Return an event as one number above 0: an odd one for a scan, an even one for an exploit, two for each place."""
    return 2 * (place + 1) + 1 + (1 if is_exploit else 0)


@kernel
def write_history(memory: Record, row: NDArray[np.int8], at: int) -> None:
    """Write these bits into `row`, from the place `at` on."""
    for k in range(NUM_WATCHED):
        at = _write_age(int(memory.event_fresh[k]), EVENT_AGES, row, at)
        at = _write_age(int(memory.restore_fresh[k]), RESTORE_AGES, row, at)
        at = _write_age(int(memory.remove_fresh[k]), REMOVE_AGES, row, at)
        for count in EXPLOIT_COUNTS:
            row[at] = 1 if memory.exploits_seen[k] >= count else 0
            at += 1
    action = int(memory.own_action)
    block = (action - FIRST_BLOCK) // NUM_HOSTS if action >= FIRST_BLOCK else -1
    place = _PLACE[(action - FIRST_BLOCK) % NUM_HOSTS] if action >= FIRST_BLOCK else -1
    for k in range(NUM_WATCHED):
        row[at + k] = 1 if place == k else 0
    at += NUM_WATCHED
    kind = NUM_KINDS - 1 if block == RESTORE_BLOCK else min(block + 1, NUM_KINDS - 2)
    for k in range(NUM_KINDS):
        row[at + k] = 1 if kind == k else 0
    at += NUM_KINDS
    for past in range(1, NUM_PAST_EVENTS):
        event = int(memory.past_events[past])
        for k in range(NUM_WATCHED):
            row[at + k] = 1 if event > 0 and (event - 1) // 2 == k + 1 else 0
        row[at + NUM_WATCHED] = 1 if event > 0 and event % 2 == 1 else 0  # a scan
        row[at + NUM_WATCHED + 1] = 1 if event > 0 and event % 2 == 0 else 0  # an exploit
        at += NUM_WATCHED + 2


@kernel
def _write_age(fresh: int, ages: NDArray[np.int64], row: NDArray[np.int8], at: int) -> int:
    """Write whether something happened less than each of `ages` steps ago; return the place behind."""
    for k in range(len(ages)):
        row[at + k] = 1 if fresh > REMEMBERED - ages[k] else 0
    return at + len(ages)
