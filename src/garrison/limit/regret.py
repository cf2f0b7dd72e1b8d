"""What a step loses: a reward for learning that says at once what an action will cost.

Let V(t, s) be the most that a defender who sees everything can still get in the mean (`values`). The regret of an
action is the mean of reward + V(t + 1, next state) over Red's draws, less V(t, state). By the performance difference
lemma (Kakade and Langford 2002) the mean return of any defender is V of the beginning plus the sum of its regrets. So
who learns from regrets learns the same task, with two differences: what an action will cost is said when it is taken,
and the luck of the draws is taken out (the penalties of `audit` are subtracted, whose mean is 0).

That is reward shaping by a potential (Ng, Harada and Russell 1999), with the potential's noise averaged away. It needs
the true state, which is there while training. The policy still sees only what the challenge shows.

Rewards are weighed as in `solved_games`. Any V would do: what positions give Blue as a present makes it a little too
high, and changes nothing about what is best. One thing is not exact: the step in which a game is lost for good counts
as one point, whatever it cost.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.defend import defend
from garrison.cage2.job_board import finish, first_job, next_job, take
from garrison.cage2.layout import STATE, TAPE
from garrison.cage2.names import REDS
from garrison.cage2.scenario import load_scenario
from garrison.cage2.thread_team import SharedWork, ThreadTeam
from garrison.jit import kernel, records
from garrison.jit.atomics import Words
from garrison.limit.explore import Longs, find
from garrison.limit.outcomes import OUTCOMES, find_outcomes
from garrison.limit.port_lists import make_tables
from garrison.limit.positions import OVER, pack
from garrison.limit.solved_games import SolvedGame, check_game, protocol_lengths, solve_all, step_weights
from garrison.limit.values import Floats

CHUNK = 32  # states that a thread takes at a time


class Workplaces(NamedTuple):
    """Where threads try what can follow, a row for each, and the facts that they need."""

    state: NDArray[np.void]
    scratch: NDArray[np.void]
    scenario: NDArray[np.void]
    port_lists: NDArray[np.void]
    tapes: NDArray[np.void]
    outcomes: NDArray[np.void]


@kernel(cached=True)
def regret_share(
    states: NDArray[np.void],
    actions: Longs,
    game: SolvedGame,
    places: Workplaces,
    regrets: Floats,
    own: Floats,
    items: int,
    chunk: int,
    board: Words,
    member: int,
    call: int,
) -> None:
    """Let a thread write its part of the regrets; the last parameters are those of `job_board`."""
    job = first_job(board, call)
    while job >= 0:
        k = take(board, job, member, items, chunk)
        while k >= 0:
            regret_rows(states, actions, game, places, regrets, own, k * chunk, min(items, (k + 1) * chunk), member)
            finish(board, 0)
            k = take(board, job, member, items, chunk)
        job = next_job(board, job, member, items, chunk, call)


@kernel
def regret_rows(
    states: NDArray[np.void],
    actions: Longs,
    game: SolvedGame,
    places: Workplaces,
    regrets: Floats,
    own: Floats,
    begin: int,
    end: int,
    member: int,
) -> None:
    """Write the regrets of these actions in the states in which this game is played, and how often rewards count.

    A regret holds the mean of the step's reward, so the reward itself counts 0 times. Where the game is over for Blue
    nothing is known about what follows: the regret is the change of the game's value, and the reward counts as it does.
    """
    sc, lists, out, tape = places.scenario[0], places.port_lists[0], places.outcomes[member], places.tapes[member]
    state, scratch = places.state[member : member + 1], places.scratch[member : member + 1]
    for i in range(begin, end):
        t = int(states[i].t)
        if states[i].red != game.red or states[i].done:
            continue
        state[0] = states[i]
        first, second = pack(state[0], sc, lists)
        if first == OVER:
            regrets[i] = game.lost[t + 1] - game.lost[t]
            continue
        before = game.values[t, game.table[find(first, second, game.table, game.firsts, game.seconds)]]
        state[0] = states[i]
        mean = -game.weights[t] * defend(state[0], sc, None, actions[i])
        find_outcomes(state, scratch, sc, lists, tape, False, out)
        for j in range(out.targets):
            for b in range(out.branches[j, 0]):
                follows = int(out.first[j, 0, b])
                k = game.table[find(follows, int(out.second[j, 0, b]), game.table, game.firsts, game.seconds)]
                value = game.lost[t + 1] if follows == OVER else game.values[t + 1, k]
                chance = out.odds[j] * out.probability[j, 0, b]
                mean += chance * (game.weights[t] * game.rewards[k] + value)
        regrets[i] = mean - before
        own[i] = 0.0


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
        lengths = protocol_lengths(length)
        self.weights = step_weights(lengths)
        """How often the reward of each step counts"""
        scenario = load_scenario(rules=rules)
        facts = records(scenario), records(make_tables(scenario))
        self._places = Workplaces(
            records(np.zeros(threads, STATE)),
            records(np.zeros(threads, STATE)),
            *facts,
            records(np.zeros(threads, TAPE)),
            records(np.zeros(threads, OUTCOMES)),
        )
        self._team = ThreadTeam(threads - 1)
        self._games = solve_all(rules, reds, lengths, threads)
        over = np.zeros(1, STATE)
        over["done"] = True
        self.of(over, np.zeros(1, np.int64))  # nothing to say, but the kernel is compiled before a run's clock starts

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
        for game in self._games:
            arguments = records(states), actions, game, self._places, regrets, own
            self._team.run(SharedWork(regret_share, arguments, len(states), CHUNK))
        self._team.forget()
        return regrets, own

    def close(self) -> None:
        """Stop the threads."""
        self._team.close()
