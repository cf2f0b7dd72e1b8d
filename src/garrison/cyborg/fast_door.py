"""Blue's shortest way through a game: a number in, the 52 bits and a reward out, and no dict on the way."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from garrison.cyborg.controller import Controller


class FastBlue:
    """For wrappers that show Blue the challenge's own vector. The bits are overwritten by the next call."""

    def __init__(self, game: "Controller") -> None:
        self._game = game

    @property
    def bits(self) -> NDArray[np.int8]:
        """Blue's bits as they are now, whoever played last."""
        return self._game.bits

    @property
    def steps(self) -> int:
        """The number of steps of this episode."""
        return self._game.steps

    @property
    def scanned_hosts(self) -> list[str]:
        """The hosts that have answered a scan of Red's in this episode."""
        return self._game.scanned_hosts

    def reset(self) -> NDArray[np.int8]:
        """Begin an episode and return Blue's bits."""
        self._game.begin()
        return self._game.bits

    def step(self, action: int) -> tuple[NDArray[np.int8], float, bool]:
        """Do one of the 145 actions; return the bits, the reward as in a step's results, and whether it is over."""
        game = self._game
        reward = game.play_number(action)
        return game.bits, round(reward, 1) + 0.0, game.done  # no negative zero
