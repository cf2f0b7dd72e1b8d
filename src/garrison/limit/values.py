"""Backward induction: the best mean return from every position, for every number of steps that are left."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from garrison.jit import kernel
from garrison.limit.explore import GameGraph
from garrison.limit.positions import OVER

Floats = NDArray[np.float64]


@kernel(cached=True)
def look_back(
    is_decision: NDArray[np.bool_],
    is_turn: NDArray[np.bool_],
    move_start: NDArray[np.int64],
    move_count: NDArray[np.int32],
    move_to: NDArray[np.int32],
    move_cost: Floats,
    turn_start: NDArray[np.int64],
    draws: NDArray[np.int32],
    odds: Floats,
    rewards: Floats,
    weight: float,
    values: Floats,
    turns: Floats,
) -> None:
    """Turn the values with n steps left into those with n + 1; that of a game which is over is left alone.

    The reward of the step between them counts `weight` times.
    """
    for k in range(len(values)):
        if is_turn[k]:
            w = turn_start[k]
            targets = draws[w]
            w += 1
            total = 0.0
            for _ in range(targets):
                alternatives = draws[w]
                share = odds[w]
                w += 1
                best = -np.inf
                for _a in range(alternatives):
                    branches = draws[w]
                    w += 1
                    mean = 0.0
                    for _b in range(branches):
                        mean += odds[w] * (weight * rewards[draws[w]] + values[draws[w]])
                        w += 1
                    best = max(best, mean)
                total += share * best
            turns[k] = total
    for k in range(len(values)):
        if is_decision[k] and move_count[k] > 0:  # others lie behind the end of the episode
            best = -np.inf
            for m in range(move_start[k], move_start[k] + move_count[k]):
                best = max(best, turns[move_to[m]] - weight * move_cost[m])
            values[k] = best


def when_over(left: int) -> float:
    """Return the value of a game that just ended for Blue: Op_Server0 costs 1 once more, by Red's hold or a Restore."""
    return -1.0 if left > 0 else 0.0


@dataclass(frozen=True)
class ValueTable:
    """The best mean return from every position with n steps left: row n."""

    values: Floats
    """Where Blue is to act"""
    turns: Floats
    """Where Blue has acted"""


def value_table(game: GameGraph, steps: int) -> ValueTable:
    """Return the values of all positions with 0, 1, ... up to `steps` steps left."""
    table = ValueTable(np.zeros((steps + 1, game.size)), np.zeros((steps + 1, game.size)))
    for left, values in enumerate(_backwards(game, np.ones(steps), table.turns)):
        table.values[left] = values
    return table


def best_returns(game: GameGraph, steps: int) -> Floats:
    """Return the best mean return of an episode of 0, 1, ... up to `steps` steps."""
    return np.array([values[0] for values in _backwards(game, np.ones(steps), None)])


def weighted_values(game: GameGraph, weights: Floats) -> NDArray[np.float32]:
    """Return (steps + 1, positions): the most that can still be had in the mean before each step, and after the last.

    Args:
        game: of at least `len(weights)` steps.
        weights: how often the reward of each step counts, the first step first.
    """
    table = np.zeros((len(weights) + 1, game.size), np.float32)
    for left, values in enumerate(_backwards(game, weights, None)):
        table[len(weights) - left] = values
    return table


def _backwards(game: GameGraph, weights: Floats, kept_turns: Floats | None) -> Iterator[Floats]:
    values, turns = np.zeros(game.size), np.zeros(game.size)
    over = np.flatnonzero(game.firsts == OVER)
    yield values
    for left in range(1, len(weights) + 1):
        weight = float(weights[-left])
        look_back(
            game.is_decision,
            game.is_turn,
            game.move_start,
            game.move_count,
            game.move_to,
            game.move_cost,
            game.turn_start,
            game.draws,
            game.odds,
            game.rewards,
            weight,
            values,
            turns,
        )
        values[over] = weight * when_over(left)
        if kept_turns is not None:
            kept_turns[left] = turns
        yield values
