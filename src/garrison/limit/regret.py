"""What a step loses: a reward for learning that says at once what an action will cost.

Let V(t, s) be the most that a defender who sees everything can still get in the mean (`values`). The regret of an
action is the mean of reward + V(t + 1, next state) over Red's draws, less V(t, state). By the performance difference
lemma (Kakade and Langford 2002) the mean return of any defender is V of the beginning plus the sum of its regrets. So
who learns from regrets learns the same task, with two differences: what an action will cost is said when it is taken,
and the luck of the draws is taken out (the penalties of `audit` are subtracted, whose mean is 0).

That is reward shaping by a potential (Ng, Harada and Russell 1999), with the potential's noise averaged away. It needs
the true state, which is there while training. The policy still sees only what the challenge shows.

Rewards are weighed by how many of the protocol's lengths reach the step: an agent is not told the length, so 30, 50 and
100 steps are one episode whose first 30 steps count three times. Any V would do; what positions give Blue as a present
makes it a little too high, and changes nothing about what is best.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.defend import defend
from garrison.cage2.layout import STATE, TAPE
from garrison.cage2.names import REDS
from garrison.cage2.scenario import load_scenario
from garrison.cage2.thread_team import ThreadTeam
from garrison.errors import UserError
from garrison.jit import kernel, records
from garrison.limit.explore import Longs, explore_game, find, telling_actions
from garrison.limit.outcomes import LONGEST, OUTCOMES, find_outcomes
from garrison.limit.port_lists import make_tables
from garrison.limit.positions import OVER, pack
from garrison.limit.values import Floats, weighted_values

LENGTHS = (30, 50, 100)
"""Of the protocol's episodes."""
SOLVED = ("bline", "meander")
"""The attackers whose games are solved; against Sleep a step loses what it costs."""
LOST_STEPS = 10
"""A game that is over for Blue counts as a point for each of the next so many steps: far more than it ever pays."""


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


class Workplace(NamedTuple):
    """Where one thread tries what can follow, and the facts that it needs."""

    state: NDArray[np.void]
    scratch: NDArray[np.void]
    scenario: NDArray[np.void]
    port_lists: NDArray[np.void]
    tapes: NDArray[np.void]
    outcomes: NDArray[np.void]


def step_weights(length: int) -> Floats:
    """Return how many of the protocol's lengths, and of this one, reach each step of an episode.

    >>> step_weights(100)[[0, 29, 30, 49, 50, 99]].tolist()
    [3.0, 3.0, 2.0, 2.0, 1.0, 1.0]
    """
    lengths = {length, *(known for known in LENGTHS if known < length)}
    return np.array([sum(known > t for known in lengths) for t in range(length)], np.float64)


def lost_values(weights: Floats) -> Floats:
    """Return what a game that is over for Blue counts as, before each step and after the last."""
    return -np.array([weights[t : t + LOST_STEPS].sum() for t in range(len(weights) + 1)])


@kernel(cached=True)
def regret_batch(
    states: NDArray[np.void],
    actions: Longs,
    game: SolvedGame,
    place: Workplace,
    regrets: Floats,
    own: Floats,
    begin: int,
    end: int,
) -> int:
    """Write the regrets of these actions in the states in which this game is played, and how often rewards count.

    A regret holds the mean of the step's reward, so the reward itself counts 0 times. Where the game is over for Blue
    nothing is known about what follows: the regret is the change of the game's value, and the reward counts as it does.
    """
    sc, lists, out = place.scenario[0], place.port_lists[0], place.outcomes[0]
    for i in range(begin, end):
        t = int(states[i].t)
        if states[i].red != game.red or states[i].done:
            continue
        place.state[0] = states[i]
        first, second = pack(place.state[0], sc, lists)
        if first == OVER:
            regrets[i] = game.lost[t + 1] - game.lost[t]
            continue
        before = game.values[t, game.table[find(first, second, game.table, game.firsts, game.seconds)]]
        place.state[0] = states[i]
        mean = -game.weights[t] * defend(place.state[0], sc, None, actions[i])
        find_outcomes(place.state, place.scratch, sc, lists, place.tapes[0], False, out)
        for j in range(out.targets):
            for b in range(out.branches[j, 0]):
                follows = int(out.first[j, 0, b])
                k = game.table[find(follows, int(out.second[j, 0, b]), game.table, game.firsts, game.seconds)]
                value = game.lost[t + 1] if follows == OVER else game.values[t + 1, k]
                chance = out.odds[j] * out.probability[j, 0, b]
                mean += chance * (game.weights[t] * game.rewards[k] + value)
        regrets[i] = mean - before
        own[i] = 0.0
    return 0


class Regret:
    """Says what actions lose in episodes of one length, under one set of rules.

    Making it solves the games: about 15 s on one core for each attacker that moves, and 0.4 GB.

    Args:
        rules: `head` or `leaderboard`.
        reds: who may attack: `bline`, `meander` and `sleep`.
        length: of the episodes, at most `LONGEST` steps.
        threads: over how many threads the work is split.
    """

    def __init__(self, rules: str, reds: Iterable[str], length: int, threads: int = 1) -> None:
        check_game(reds, length)
        self.weights = step_weights(length)
        """How often the reward of each step counts"""
        scenario = load_scenario(rules=rules)
        facts = records(scenario), records(make_tables(scenario))
        self._places = [
            Workplace(
                records(np.zeros(1, STATE)),
                records(np.zeros(1, STATE)),
                *facts,
                records(np.zeros(1, TAPE)),
                records(np.zeros(1, OUTCOMES)),
            )
            for _ in range(threads)
        ]
        self._team = ThreadTeam(threads - 1)
        with ThreadPoolExecutor(threads) as pool:  # kernels let go of the interpreter
            solve = partial(_solve, rules, weights=self.weights)
            self._games = list(pool.map(solve, [red for red in SOLVED if red in reds]))

    @property
    def at_the_start(self) -> dict[str, float]:
        """The most that can be had of an episode, by attacker: weighed, in the mean, by who sees everything."""
        return {REDS[game.red]: float(game.values[0, 0]) for game in self._games}

    def of(self, states: NDArray[np.void], actions: Longs) -> tuple[Floats, Floats]:
        """Return what is lost by these actions of the challenge, and how often the rewards count that they will bring.

        What to learn from is the first plus the second times the reward; where an episode has ended both are 0.
        """
        regrets = np.zeros(len(states))
        own = np.where(states["done"], 0.0, np.append(self.weights, 0.0)[states["t"]])
        bounds = np.linspace(0, len(states), len(self._places) + 1).astype(int)
        shares = list(zip(self._places, pairwise(bounds.tolist()), strict=True))
        for game in self._games:
            common = records(states), actions, game
            self._team.run([partial(regret_batch, *common, place, regrets, own, *share) for place, share in shares])
        return regrets, own

    def close(self) -> None:
        """Stop the threads."""
        self._team.close()


def _solve(rules: str, red: str, weights: Floats) -> SolvedGame:
    game = explore_game(rules, red, len(weights), actions=telling_actions(red))
    values = weighted_values(game, weights)
    keys = game.table, game.firsts, game.seconds
    return SolvedGame(REDS.index(red), *keys, game.rewards, values, lost_values(weights), weights)


def check_game(reds: Iterable[str], length: int) -> None:
    """Raise a UserError where it is not known what a step loses."""
    others = [red for red in reds if red not in (*SOLVED, "sleep")]
    if others:
        raise UserError(
            f"what a step loses is known against bline, meander and sleep, not against {', '.join(map(str, others))}: "
            "use reward=score there."
        )
    if length > LONGEST:
        raise UserError(f"what a step loses is known in episodes of up to {LONGEST} steps; got {length}.")
