"""Values held against the simulator: is no step of any defender better than they say?

Let v(n, s) be the value of a state's position with n steps left. The values bound every defender if in no state and for
no action the mean of reward + v(n-1, next) exceeds v(n, state): then by induction no return has a mean above v of the
beginning. That is also the bound by information relaxation (Brown, Smith, Sun 2010) with the martingale differences

    penalty = reward + v(n-1, next) - mean of the same over Red's draws

since the return less the penalties telescopes: **on every single sequence of draws, for every sequence of actions, it
is at most v of the beginning**, even for a defender that knows all draws beforehand. The means here are no estimates:
every draw is run on the simulator, in the true state, without the presents that positions give.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.defend import defend
from garrison.cage2.layout import STATE, TAPE
from garrison.cage2.names import ACTIONS, NUM_ACTIONS, BlueKind, Host
from garrison.cage2.scenario import load_scenario
from garrison.errors import GarrisonError
from garrison.jit import kernel, records
from garrison.limit.explore import GameGraph, Longs, find
from garrison.limit.outcomes import OUTCOMES, find_outcomes
from garrison.limit.port_lists import make_tables
from garrison.limit.positions import OVER, pack
from garrison.limit.values import Floats, ValueTable, when_over

UNKNOWN = -1  # a position that exploring has not found; there must be none
ENDED = -2  # the game is over for Blue


@kernel(cached=True)
def number_batch(
    states: NDArray[np.void],
    scratch: NDArray[np.void],
    scenario: NDArray[np.void],
    port_lists: NDArray[np.void],
    table: NDArray[np.int32],
    firsts: Longs,
    seconds: Longs,
    numbers: Longs,
) -> None:
    """Write the numbers of the states' positions, `UNKNOWN` or `ENDED`."""
    for i in range(len(states)):
        scratch[0] = states[i]
        first, second = pack(scratch[0], scenario[0], port_lists[0])
        numbers[i] = ENDED if first == OVER else table[find(first, second, table, firsts, seconds)]


@kernel(cached=True)
def mean_batch(
    states: NDArray[np.void],
    scratch: NDArray[np.void],
    scenario: NDArray[np.void],
    port_lists: NDArray[np.void],
    tapes: NDArray[np.void],
    outcomes: NDArray[np.void],
    table: NDArray[np.int32],
    firsts: Longs,
    seconds: Longs,
    actions: Longs,
    rewards: Floats,
    values: Floats,
    means: Floats,
) -> int:
    """Write the mean of reward + value after each state's action; return how many positions were unknown."""
    sc, out = scenario[0], outcomes[0]
    unknown = 0
    for i in range(len(states)):
        state = states[i : i + 1]
        cost = defend(state[0], sc, None, actions[i])
        find_outcomes(state, scratch, sc, port_lists[0], tapes[0], False, out)
        mean = -cost
        for j in range(out.targets):
            for b in range(out.branches[j, 0]):
                k = table[find(int(out.first[j, 0, b]), int(out.second[j, 0, b]), table, firsts, seconds)]
                if k < 0:
                    unknown += 1
                else:
                    mean += out.odds[j] * out.probability[j, 0, b] * (rewards[k] + values[k])
        means[i] = mean
    return unknown


@kernel(cached=True)
def choose_batch(
    states: NDArray[np.void],
    scratch: NDArray[np.void],
    scenario: NDArray[np.void],
    port_lists: NDArray[np.void],
    table: NDArray[np.int32],
    firsts: Longs,
    seconds: Longs,
    turns: Floats,
    actions: Longs,
) -> None:
    """Write the action with the best value in each state; Sleep where the game is over."""
    for i in range(len(states)):
        best = -np.inf
        actions[i] = 0
        for action in range(NUM_ACTIONS):
            scratch[0] = states[i]
            cost = defend(scratch[0], scenario[0], None, action)
            first, second = pack(scratch[0], scenario[0], port_lists[0])
            k = table[find(first, second, table, firsts, seconds)]
            if first != OVER and k >= 0 and turns[k] - cost > best + 1e-12:
                best = turns[k] - cost
                actions[i] = action


class Referee:
    """Knows the values of a game and applies them to states of the simulator."""

    def __init__(self, game: GameGraph, table: ValueTable) -> None:
        """Hold the values `table` of `game` ready."""
        self.game, self.table = game, table
        scenario = load_scenario(rules=game.rules)
        self._facts = (records(np.zeros(1, STATE)), records(scenario), records(make_tables(scenario, game.listed)))
        self._try = (records(np.zeros(1, TAPE)), records(np.zeros(1, OUTCOMES)))
        self._keys = game.table, game.firsts, game.seconds
        self.end_reward = -float(scenario[0]["confidentiality"][Host.OP_SERVER0])
        """Of the step in which the game ends for Blue, without what its action costs"""
        restores = [action.kind == BlueKind.RESTORE for action in ACTIONS]
        self.action_costs = np.array(restores) * float(scenario[0]["restore_cost"])

    def values(self, states: NDArray[np.void], left: int) -> Floats:
        """Return the values of states with `left` steps to go; NaN where the game is over for Blue."""
        numbers = np.zeros(len(states), np.int64)
        number_batch(records(states), *self._facts, *self._keys, numbers)
        if np.any(numbers == UNKNOWN):
            raise GarrisonError("a state has a position that exploring has not found: the values are no bound.")
        return np.where(numbers == ENDED, np.nan, self.table.values[left][numbers])

    def means(self, states: NDArray[np.void], actions: NDArray[np.int64], left: int) -> Floats:
        """Return the means of reward + value of what follows when these actions are taken with `left` steps to go."""
        means = np.zeros(len(states))
        copies = records(states.copy())
        table, firsts, seconds = self._keys
        values = self.table.values[left - 1]
        places = (*self._facts, *self._try, table, firsts, seconds)
        if mean_batch(copies, *places, actions.astype(np.int64), self.game.rewards, values, means):
            raise GarrisonError("a position can follow that exploring has not found: the values are no bound.")
        return means

    def best_actions(self, states: NDArray[np.void], left: int) -> NDArray[np.int64]:
        """Return the best actions with `left` steps to go."""
        actions = np.zeros(len(states), np.int64)
        choose_batch(records(states), *self._facts, *self._keys, self.table.turns[left], actions)
        return actions


@dataclass(frozen=True)
class Audit:
    """What came of playing some episodes beside the values."""

    bound: float
    """The value of the beginning"""
    returns: Floats
    penalised: Floats
    """Returns less the penalties: none may exceed the bound"""
    excess: float
    """The most by which a step was better than the values say; above 0 only by rounding"""

    @property
    def penalties(self) -> Floats:
        """Their mean is 0 for a defender that does not know the draws."""
        return self.returns - self.penalised


def audit(referee: Referee, agent: Any, length: int, episodes: int, seed: int) -> Audit:
    """Let an agent play, or with None the values themselves, and hold every step against the values."""
    from garrison.cage2 import VectorEnv

    game = referee.game
    encoder = "challenge" if agent is None else agent.encoder
    envs = VectorEnv(
        episodes, red=game.red, rules=game.rules, length=length, encoder=encoder, autoreset_mode="Disabled"
    )
    observations, _ = envs.reset(seed=seed)
    if agent is not None:
        agent.begin(episodes, seed)
    returns, penalised = np.zeros(episodes), np.zeros(episodes)
    states = envs.get_state()
    values = referee.values(states, length)
    bound, excess, playing = float(values[0]), -np.inf, np.ones(episodes, np.bool_)
    for left in range(length, 0, -1):
        actions = referee.best_actions(states, left) if agent is None else np.asarray(agent.act(observations))
        means = np.zeros(episodes)
        means[playing] = referee.means(states[playing], actions[playing], left)
        excess = max(excess, float(np.max((means - values)[playing], initial=-np.inf)))
        observations, rewards, _, _, _ = envs.step(actions)
        states = envs.get_state()
        after = referee.values(states, left - 1)
        over = playing & np.isnan(after)
        # Where the game is over, all that is still to come is held against what the values say of it in one sum.
        ended = referee.end_reward - referee.action_costs[actions] + when_over(left - 1)
        drawn = np.where(over, ended, rewards + np.nan_to_num(after))
        penalised += np.where(playing, rewards - (drawn - means), rewards)
        returns += rewards
        playing &= ~over
        values = after
    envs.close()
    return Audit(bound, returns, penalised, excess)
