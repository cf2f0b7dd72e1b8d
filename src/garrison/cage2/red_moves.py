"""Red's actions as one list of numbers, for attackers that choose from a list: learned ones and PettingZoo's.

These are all actions that can ever do something: Impact names Op_Server0 only, because nothing else has a service.
"""

from typing import NamedTuple

import numpy as np

from garrison.cage2.names import HOSTS, RED_ACTIONS, SUBNETS, Host, RedKind


class ListedMove(NamedTuple):
    """One row of the table."""

    id: int
    name: str
    """CybORG's name and target, such as `ExploitRemoteService User1`"""
    kind: int
    """A code of `RedKind`"""
    target: int
    """A host, for a sweep a subnet; 0 for Sleep, which has none"""


def _table() -> tuple[ListedMove, ...]:
    rows = [(RedKind.SLEEP, 0, "")]
    rows += [(RedKind.SWEEP, s, name) for s, name in enumerate(SUBNETS)]
    for kind in (RedKind.SCAN, RedKind.EXPLOIT, RedKind.ESCALATE):
        rows += [(kind, h, name) for h, name in enumerate(HOSTS)]
    rows += [(RedKind.IMPACT, Host.OP_SERVER0, HOSTS[Host.OP_SERVER0])]
    return tuple(
        ListedMove(id, f"{RED_ACTIONS[kind]} {target}".rstrip(), kind, where)
        for id, (kind, where, target) in enumerate(rows)
    )


RED_MOVES = _table()
NUM_RED_MOVES = len(RED_MOVES)
KINDS_AND_TARGETS = np.array([(move.kind, move.target) for move in RED_MOVES])
"""(moves, 2), as an external attacker gives its actions"""
