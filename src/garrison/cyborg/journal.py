"""What the simulator decided, turn by turn: kept as bytes until somebody looks, then read by the world."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from garrison.cage2.layout import STATE
from garrison.cage2.names import RedKind
from garrison.cage2.turns import Turns
from garrison.cyborg.cyborg_enums import TrinaryEnum
from garrison.cyborg.red_answers import RedTurn

SUCCESS = {0: TrinaryEnum.FALSE, 1: TrinaryEnum.TRUE, -1: TrinaryEnum.UNKNOWN}
"""By the codes of `names.Success`."""

_READ = (
    "blue_action",
    "blue_success",
    "placed",
    "red_kind",
    "red_target",
    "red_exploit",
    "red_success",
    "red_answered",
    "events",
    "event_shell",
)
_TURN = STATE[list(_READ)]
"""The fields of a state that say what happened in its last turn."""


class Turn(NamedTuple):
    """One step, as the world reads it."""

    blue_action: int
    blue_success: TrinaryEnum
    accepted: bool
    """Whether a decoy was placed"""
    red: RedTurn
    drawn: Iterator[int]
    """Process ids and ports, in the order in which they were drawn"""


class KeptStep(NamedTuple):
    """One step, as it is kept."""

    state: bytes
    drawn: bytes
    lifted: int
    is_torn: bool = False
    """Red's action failed with an error, so the step ended after Blue's"""

    def read(self) -> Turn:
        """Return what happened."""
        action, success, placed, kind, target, exploit, red_success, answered, events, shell = _fields(self.state)
        red = RedTurn(kind, target, exploit, SUCCESS[red_success], bool(answered), events, bool(shell), self.lifted)
        drawn = np.frombuffer(self.drawn, np.int32).tolist()
        return Turn(action, SUCCESS[success], placed >= 0, red, iter(drawn))

    def red_codes(self) -> tuple[int, int, int, bool]:
        """Return kind, target and exploit of Red's action, and whether Red had seen ports of the target."""
        kind, target, exploit = _fields(self.state)[3:6]
        seen = np.frombuffer(self.state, STATE)["red_ports"][0]
        return kind, target, exploit, kind == RedKind.EXPLOIT and bool(seen[target] >= 0)


def keep_step(turns: Turns) -> KeptStep:
    """Copy what the last turn left in the simulator's records."""
    envs, details = turns.arrays
    drawn = details["drawn"][0, : details["drawn_count"].item()]
    return KeptStep(envs.tobytes(), drawn.tobytes(), details["lifted"].item())


def _fields(state: bytes) -> tuple[int, ...]:
    values: tuple[int, ...] = np.frombuffer(state, _TURN)[0].item()
    return values
