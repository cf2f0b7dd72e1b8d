"""Games solved for who sees everything and is not told the length: what there is still to be had, before every step.

An agent is not told the length of an episode, so 30, 50 and 100 steps are one episode whose first 30 steps count three
times: rewards are weighed by how many of the protocol's lengths reach the step. The values are those of `values`, with
the presents that positions give Blue.
"""

import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import STATE
from garrison.cage2.names import REDS
from garrison.cage2.scenario import load_scenario
from garrison.errors import UserError
from garrison.jit import is_compiled, kernel, records
from garrison.limit.explore import Longs, explore, explore_game, find, telling_actions
from garrison.limit.outcomes import LONGEST
from garrison.limit.port_lists import make_tables
from garrison.limit.positions import OVER, pack
from garrison.limit.values import Floats, weighted_values

LENGTHS = (30, 50, 100)
"""Of the protocol's episodes."""
SOLVED = ("bline", "meander")
"""The attackers whose games are solved; against Sleep there is nothing to lose but what actions cost."""
LOST_STEPS = 10
"""A game that is over for Blue counts as a point for each of the next so many steps: far more than it ever pays."""
SOON_SOLVED = 15
"""Games of up to so many steps are solved in a moment."""


class SolvedGame(NamedTuple):
    """What there is to know about the game against one attacker."""

    red: int
    table: NDArray[np.int32]
    firsts: Longs
    seconds: Longs
    rewards: Floats
    """Of a step into each position"""
    values: NDArray[np.float32]
    """(steps + 1, positions): before each step, and after the last"""
    lost: Floats
    """(steps + 1,): the same where the game is over for Blue"""
    weights: Floats
    """(steps,): how often the reward of each step counts"""


def protocol_lengths(length: int) -> tuple[int, ...]:
    """Return the protocol's lengths below this one, and this one.

    >>> protocol_lengths(100), protocol_lengths(40)
    ((30, 50, 100), (30, 40))
    """
    return (*(known for known in LENGTHS if known < length), length)


def step_weights(lengths: tuple[int, ...]) -> Floats:
    """Return how many of the lengths reach each step of the longest episode.

    >>> step_weights((30, 50, 100))[[0, 29, 30, 49, 50, 99]].tolist()
    [3.0, 3.0, 2.0, 2.0, 1.0, 1.0]
    """
    return np.array([sum(length > t for length in lengths) for t in range(max(lengths))], np.float64)


def lost_values(weights: Floats) -> Floats:
    """Return what a game that is over for Blue counts as, before each step and after the last."""
    return -np.array([weights[t : t + LOST_STEPS].sum() for t in range(len(weights) + 1)])


@cache
def solve(rules: str, red: str, lengths: tuple[int, ...]) -> SolvedGame:
    """Solve a game, once in a process: five to fifteen seconds on one core, and up to 0.4 GB."""
    if max(lengths) > SOON_SOLVED:
        compiled = "" if is_compiled(explore) else ", and half a minute to compile, once"
        print(f"garrison: solving the game against {red}, some seconds{compiled}", file=sys.stderr, flush=True)
    weights = step_weights(lengths)
    game = explore_game(rules, red, len(weights), actions=telling_actions(red))
    keys = game.table, game.firsts, game.seconds
    values = weighted_values(game, weights)
    return SolvedGame(REDS.index(red), *keys, game.rewards, values, lost_values(weights), weights)


def solve_all(rules: str, reds: Iterable[str], lengths: tuple[int, ...], threads: int) -> list[SolvedGame]:
    """Solve the games against these attackers, side by side."""
    with ThreadPoolExecutor(threads) as pool:  # kernels let go of the interpreter
        return list(pool.map(lambda red: solve(rules, red, lengths), [red for red in SOLVED if red in reds]))


@kernel(cached=True)
def value_batch(
    states: NDArray[np.void],
    t: int,
    game: SolvedGame,
    scratch: NDArray[np.void],
    scenario: NDArray[np.void],
    port_lists: NDArray[np.void],
    values: Floats,
) -> None:
    """Write the values before step `t` of the states in which this game is played."""
    for i in range(len(states)):
        if states[i].red != game.red:
            continue
        scratch[0] = states[i]
        first, second = pack(scratch[0], scenario[0], port_lists[0])
        k = game.table[find(first, second, game.table, game.firsts, game.seconds)]
        values[i] = game.lost[t] if first == OVER or k < 0 else game.values[t, k]


class Outlook:
    """What there is still to be had from states, by who sees everything: for looking ahead some steps, and no further.

    Args:
        rules: `head` or `leaderboard`.
        lengths: of the episodes, one as likely as the other, at most `LONGEST` steps.
        threads: on which the games are solved.
    """

    def __init__(self, rules: str, lengths: tuple[int, ...] = LENGTHS, threads: int = 1) -> None:
        self._games = solve_all(rules, SOLVED, lengths, threads)
        self.weights = step_weights(lengths)
        """How often the reward of each step counts"""
        scenario = load_scenario(rules=rules)
        self._places = records(np.zeros(1, STATE)), records(scenario), records(make_tables(scenario))

    def of(self, states: NDArray[np.void], t: int) -> Floats:
        """Return the most that can be had in the mean from step `t` on, rewards weighed; 0 from the last one on."""
        values = np.zeros(len(states))
        for game in self._games if t < len(self.weights) else ():
            value_batch(records(states), t, game, *self._places, values)
        return values


def check_game(reds: Iterable[str], length: int) -> None:
    """Raise a UserError where it is not known what a step loses."""
    others = [red for red in reds if red not in (*SOLVED, "sleep")]
    if others:
        raise UserError(
            f"what a step loses is known against bline, meander and sleep, not against {', '.join(map(str, others))}: "
            "use reward=score there."
        )
    if length > LONGEST:
        raise UserError(
            f"what a step loses is known in episodes of up to {LONGEST} steps; got {length}: use reward=score there."
        )
