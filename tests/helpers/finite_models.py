"""Bounds by information relaxation on small models in tables, where exact answers are at hand.

This is the theory that `garrison.limit` applies to the simulator. A defender that does not see the state has at most
the value of one that does; that one has at most the mean, over tables of draws, of the best return less penalties in
hindsight, as long as the penalties have mean 0 for whoever does not know the draws (Brown, Smith, Sun 2010).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FiniteModel:
    """A partially observed decision problem with few states, actions and observations."""

    moves: Floats
    """(states, actions, states) probability of the next state"""
    rewards: Floats
    """(states, actions) of a step"""
    signals: Floats
    """(states, observations) probability of what is seen of a new state"""
    start: Floats
    """(states,) probability of the first state, of which nothing is seen"""


def exact_value(model: FiniteModel, steps: int) -> float:
    """Return the best mean return of a defender that sees only the signals, by dynamic programming over beliefs."""

    def best(belief: Floats, left: int) -> float:
        return max(after(belief, action, left) for action in range(model.rewards.shape[1]))

    def after(belief: Floats, action: int, left: int) -> float:
        total = float(belief @ model.rewards[:, action])
        if left > 1:
            seen = (belief @ model.moves[:, action])[:, None] * model.signals
            chances = seen.sum(axis=0)
            total += sum(p * best(seen[:, o] / p, left - 1) for o, p in enumerate(chances) if p > 0)
        return total

    return best(model.start, steps)


def state_values(model: FiniteModel, steps: int) -> Floats:
    """Return the best mean returns of a defender that sees the state: (steps + 1, states), by steps left."""
    values = np.zeros((steps + 1, len(model.start)))
    for left in range(1, steps + 1):
        values[left] = (model.rewards + model.moves @ values[left - 1]).max(axis=1)
    return values


def hindsight_values(model: FiniteModel, guess: Floats, scenarios: int, seed: int) -> Floats:
    """Return the best return less penalties in each of some scenarios: their mean bounds every defender from above.

    A scenario is a start and a table of draws: for each step, state and action the next state. `guess`, (steps + 1,
    states), may be anything that vanishes with no steps left; the penalty of a step is the guess of the next state less
    its mean. With the values themselves as the guess every scenario gives the value of its first state, with zeros the
    defender simply knows the future.
    """
    rng = np.random.default_rng(seed)
    steps = len(guess) - 1
    results = np.zeros(scenarios)
    limits = model.moves.cumsum(axis=2)
    for i in range(scenarios):
        hindsight = np.zeros(len(model.start))
        for left in range(1, steps + 1):
            draws = rng.random(model.rewards.shape)
            to = np.minimum((draws[..., None] >= limits).sum(axis=2), len(model.start) - 1)
            penalties = guess[left - 1][to] - model.moves @ guess[left - 1]
            hindsight = (model.rewards - penalties + hindsight[to]).max(axis=1)
        results[i] = hindsight[rng.choice(len(model.start), p=model.start)]
    return results
