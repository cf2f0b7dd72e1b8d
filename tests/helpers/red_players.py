"""Attackers for tests that choose by what Red knows: at random among what is allowed, or always the first."""

from typing import ClassVar

import numpy as np

from garrison.cage2 import RedAgent, RedView
from garrison.cage2.red_moves import KINDS_AND_TARGETS


class AnyMove(RedAgent):
    """Draws one of the moves that Red does not know to fail."""

    keeps_nothing: ClassVar[bool] = True

    def act(self, view: RedView) -> tuple[np.ndarray, np.ndarray]:
        kinds, targets = KINDS_AND_TARGETS[view.pick(view.action_masks())].T
        return kinds, targets


class LastMove(RedAgent):
    """Takes the last of them, and draws nothing."""

    keeps_nothing: ClassVar[bool] = True

    def act(self, view: RedView) -> tuple[np.ndarray, np.ndarray]:
        masks = view.action_masks()
        kinds, targets = KINDS_AND_TARGETS[masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)].T
        return kinds, targets


class Counting(RedAgent):
    """Sleeps, and counts in itself how many steps each environment has been asked about."""

    def reset(self, mask: np.ndarray) -> None:
        self.counts = np.where(mask, 0, getattr(self, "counts", np.zeros(len(mask), int)))

    def act(self, view: RedView) -> tuple[int, int]:
        self.counts += 1
        assert (self.counts == view.t + 1).all()
        return 0, 0
