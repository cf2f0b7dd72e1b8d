"""The empirical ceiling: a defender that sees the true state, and plays by the values of the upper bound.

It sees more than any entry to the challenge may, so its score hints at what is left to gain. Its values are those of a
game that is a little kinder than the true one (`garrison.limit.positions`), so the best that such a defender could do
lies between its score and the bound.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from garrison.cage2 import VectorEnv
from garrison.cage2.names import REDS

if TYPE_CHECKING:
    from garrison.limit.audit import Referee


def play_by_values(referee: "Referee", length: int, episodes: int, seed: int) -> NDArray[np.float64]:
    """Return the returns of episodes in which every action is the best by the values; the length is known."""
    game = referee.game
    envs = VectorEnv(episodes, red=game.red, rules=game.rules, length=length, autoreset_mode="Disabled", copy=False)
    stream = np.random.SeedSequence((seed, length, REDS.index(game.red)))  # the episodes of `garrison evaluate`
    envs.reset(seed=stream.generate_state(episodes, np.uint64).tolist())
    returns = np.zeros(episodes)
    for left in range(length, 0, -1):
        _, rewards, *_ = envs.step(referee.best_actions(envs.get_state(), left))
        returns += rewards
    envs.close()
    return returns
