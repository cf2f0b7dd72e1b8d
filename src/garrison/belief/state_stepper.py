"""Stepping states that nobody plays in: guesses of a belief, and copies that a search tries actions on."""

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import TAPE
from garrison.cage2.observe import NUM_BITS
from garrison.cage2.scenario import load_scenario
from garrison.cage2.step import RESET_DISABLED, step_batch, warm_up
from garrison.jit import records

States = NDArray[np.void]


class Stepper:
    """The game's rules, applied to any array of states: no seeds, no episodes that end, nothing kept."""

    def __init__(self, rules: str, encoder: str) -> None:
        warm_up()
        self.scenario = load_scenario(None, rules, encoder)
        self._no_tapes = np.zeros((1, 1), TAPE)

    def step(
        self, states: States, actions: NDArray[np.int64], tapes: NDArray[np.void] | None = None
    ) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        """Step states in place, each with its action of the challenge; return what Blue is shown, and the rewards.

        Their draws come from their streams, or from `tapes`, (n, steps), where their `source` says so.
        """
        n = len(states)
        bits, rewards = np.empty((n, NUM_BITS), np.int8), np.empty(n)
        no_red, ends = np.zeros((n, 2), np.int8), np.empty(n, np.bool_)
        step_batch(
            records(states),
            records(self.scenario),
            records(self._no_tapes if tapes is None else tapes),
            None,
            actions,
            no_red,
            bits,
            bits,
            rewards,
            ends,
            0,
            n,
            RESET_DISABLED,
            False,
        )
        return bits, rewards
