"""What each of Blue's actions is worth in a state, by the values of a game that sees everything."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.defend import defend
from garrison.cage2.layout import STATE
from garrison.cage2.names import NUM_ACTIONS
from garrison.cage2.scenario import load_scenario
from garrison.jit import kernel, records
from garrison.limit.explore import Longs, explore_game, find
from garrison.limit.outcomes import LONGEST
from garrison.limit.port_lists import make_tables
from garrison.limit.positions import OVER, pack
from garrison.limit.values import Floats, value_table

LOST = -20.0
"""What an action is worth after which the game is over for Blue: less than anything else"""


@kernel(cached=True)
def weigh_batch(
    states: NDArray[np.void],
    scratch: NDArray[np.void],
    scenario: NDArray[np.void],
    port_lists: NDArray[np.void],
    table: NDArray[np.int32],
    firsts: Longs,
    seconds: Longs,
    turns: NDArray[np.float32],
    lefts: Longs,
    worth: Floats,
) -> None:
    """Write (states, actions): the mean of an action's value with `lefts` steps to go, each as likely as the others."""
    for i in range(len(states)):
        for action in range(NUM_ACTIONS):
            scratch[0] = states[i]
            cost = defend(scratch[0], scenario[0], None, action)
            first, second = pack(scratch[0], scenario[0], port_lists[0])
            k = table[find(first, second, table, firsts, seconds)]
            total = LOST * len(lefts)
            if first != OVER and k >= 0:
                total = 0.0
                for left in lefts:
                    total += turns[left, k]
            worth[i, action] = total / len(lefts) - cost


class ActionValues:
    """The values of one game, held ready for states of the simulator; making it takes a minute or two."""

    def __init__(self, rules: str, red: str) -> None:
        game = explore_game(rules, red, LONGEST)
        self._turns = value_table(game, LONGEST).turns.astype(np.float32)
        scenario = load_scenario(rules=rules)
        self._facts = (records(np.zeros(1, STATE)), records(scenario), records(make_tables(scenario)))
        self._keys = game.table, game.firsts, game.seconds

    def weigh(self, states: NDArray[np.void], lefts: NDArray[np.int64]) -> Floats:
        """Return (states, actions): what Blue gets in the mean that acts so and plays on by the values.

        Args:
            states: records of `garrison.cage2.layout.STATE` in which this game's attacker plays.
            lefts: numbers of steps that are left, up to `LONGEST`, each as likely as the others.
        """
        worth = np.zeros((len(states), NUM_ACTIONS))
        weigh_batch(records(states.copy()), *self._facts, *self._keys, self._turns, lefts, worth)
        return worth


@cache
def action_values(rules: str, red: str) -> ActionValues:
    """Return the values of a game, made once in a process."""
    return ActionValues(rules, red)
