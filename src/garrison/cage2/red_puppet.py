"""An attacker that does what it is told, by the numbers of `RED_MOVES`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.inputs import check_range, whole_numbers
from garrison.cage2.red_agent import Ints, RedAgent, RedView
from garrison.cage2.red_moves import KINDS_AND_TARGETS, NUM_RED_MOVES


class RedPuppet(RedAgent):
    """Plays the moves that were given last; it remembers what a learned attacker does, in the same way."""

    def __init__(self, num_envs: int) -> None:
        self._moves: NDArray[np.int64] = np.zeros(num_envs, np.int64)

    def tell(self, moves: Any) -> None:
        """Take the next moves, one per environment; refuse what is none."""
        checked = whole_numbers("red moves", moves, self._moves.shape)
        check_range("red move", checked, NUM_RED_MOVES)
        self._moves = checked

    def act(self, view: RedView) -> tuple[Ints, Ints]:
        """Do as told."""
        kinds, targets = KINDS_AND_TARGETS[self._moves].T
        return kinds, targets
