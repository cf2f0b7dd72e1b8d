"""The empirical ceiling: a defender that sees the true state and who Red is, and plays by the upper bound's values.

It sees more than any entry to the challenge may, so its score hints at what is left to gain. Its values are those of a
game that is a little kinder than the true one (`garrison.limit.positions`): they take some decoys for free, so they
leave many steps open, and there the network of the record chooses. The best that such a defender could do lies between
its score and the bound.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from garrison.cage2 import VectorEnv
from garrison.cage2.names import REDS

if TYPE_CHECKING:
    from garrison.agents.network_agent import NetworkAgent
    from garrison.limit.weighing import ActionValues

AS_GOOD = 1e-6
"""By which an action may be worth less than the best one and count as good: more than single floats are apart."""


def play_by_values(
    values: "ActionValues", network: "NetworkAgent", red: str, length: int, episodes: int, seed: int
) -> NDArray[np.float64]:
    """Return the returns of episodes in which every action is one of the best by the values; the length is known."""
    envs = VectorEnv(episodes, red=red, rules=network.rules or "", length=length, autoreset_mode="Disabled")
    stream = np.random.SeedSequence((seed, length, REDS.index(red)))  # the episodes of `garrison evaluate`
    observations, _ = envs.reset(seed=stream.generate_state(episodes, np.uint64).tolist())
    network.begin(episodes, seed)
    returns = np.zeros(episodes)
    for left in range(length, 0, -1):
        network.act(observations)
        likely = network.explain().probabilities
        worth = values.weigh(envs.get_state(), np.array([left]))
        best = worth >= worth.max(axis=1, keepdims=True) - AS_GOOD
        actions = np.where(best, likely, -1.0).argmax(axis=1)
        network.took(actions)
        observations, rewards, *_ = envs.step(actions)
        returns += rewards
    envs.close()
    return returns
