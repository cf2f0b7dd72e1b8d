"""Named choices among the 145 actions: fewer to learn about, the same game.

`all` is the challenge's own numbering. `compact` leaves out what can never pay: everything on Defender, which Red
cannot take, and on User0, whose foothold nothing removes; decoys that a pristine host refuses; and Monitor.
"""

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.defender_memory import DECOY_SLOTS
from garrison.cage2.names import ACTIONS, NUM_ACTIONS, BlueKind, Host

_HOPELESS = (Host.DEFENDER, Host.USER0)
_SLOTS = {(host, decoy) for host, decoy in DECOY_SLOTS if host not in _HOPELESS}


def _is_compact(kind: int, host: int, decoy: int) -> bool:
    if kind == BlueKind.DECOY:
        return (host, decoy) in _SLOTS
    return kind == BlueKind.SLEEP or (kind != BlueKind.MONITOR and host not in _HOPELESS)


ACTION_IDS: dict[str, NDArray[np.int64]] = {
    "all": np.arange(NUM_ACTIONS),
    "compact": np.array([a.id for a in ACTIONS if _is_compact(a.kind, a.host, a.decoy)]),
}
"""For each name of `ACTION_SETS`: the action of the challenge that each index of the set stands for."""
