"""All positions that a game can reach, and what leads from each to which.

A *decision* is a position in which Blue is to act, a *turn* one in which Blue has acted and Red is to move. Both are
positions; many are both. Blue's 145 actions are all tried on the simulator; those that lead to the same turn are one
move.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.defend import defend
from garrison.cage2.layout import STATE, TAPE, Record
from garrison.cage2.names import NUM_ACTIONS, NUM_HOSTS, REDS, Host
from garrison.cage2.scenario import load_scenario
from garrison.cage2.step import reset
from garrison.errors import GarrisonError
from garrison.jit import kernel, records
from garrison.limit.outcomes import OUTCOMES, find_outcomes
from garrison.limit.port_lists import make_tables
from garrison.limit.positions import OVER, PRIVILEGED, pack, unpack

Longs = NDArray[np.int64]

# What is full when `explore` stops early.
DONE, POSITIONS_FULL, MOVES_FULL, BRANCHES_FULL = 0, 1, 2, 3
MAX_MOVES = 64  # that differ, in one position


@kernel
def find(first: int, second: int, table: NDArray[np.int32], firsts: Longs, seconds: Longs) -> int:
    """Return the slot of a position in the hash table: the one that holds it, or the free one where it belongs."""
    mask = len(table) - 1
    mixed = (first * -7046029254386353131) ^ (second * -4417276706812531889)
    slot = (mixed ^ (mixed >> 29)) & mask
    while table[slot] >= 0:
        k = table[slot]
        if firsts[k] == first and seconds[k] == second:
            break
        slot = (slot + 1) & mask
    return slot


@kernel
def number_of(first: int, second: int, table: NDArray[np.int32], firsts: Longs, seconds: Longs, counts: Longs) -> int:
    """Return the number of a position, a new one if it is new."""
    slot = find(first, second, table, firsts, seconds)
    if table[slot] >= 0:
        return int(table[slot])
    k = int(counts[0])
    table[slot] = k
    firsts[k] = first
    seconds[k] = second
    counts[0] += 1
    return k


@kernel
def cost_of(first: int, sc: Record) -> float:
    """Return the reward of a step that ends in this position, without what Blue's action costs."""
    if first == OVER:
        return -float(sc.confidentiality[Host.OP_SERVER0])
    reward = 0.0
    for h in range(NUM_HOSTS):
        if (first >> (2 * h)) & 3 == PRIVILEGED:
            reward -= sc.confidentiality[h]
    if (first >> (2 * NUM_HOSTS)) & 1 == 0:
        reward -= sc.service_cost
    return reward


@kernel(cached=True)
def explore(
    state: NDArray[np.void],
    scratch: NDArray[np.void],
    scenario: NDArray[np.void],
    port_lists: NDArray[np.void],
    tapes: NDArray[np.void],
    outcomes: NDArray[np.void],
    table: NDArray[np.int32],
    firsts: Longs,
    seconds: Longs,
    is_decision: NDArray[np.bool_],
    is_turn: NDArray[np.bool_],
    todo: Longs,
    move_start: Longs,
    move_count: NDArray[np.int32],
    move_to: NDArray[np.int32],
    move_cost: NDArray[np.float64],
    turn_start: Longs,
    draws: NDArray[np.int32],
    odds: NDArray[np.float64],
    counts: Longs,
) -> int:
    """Explore from the position of `state[0]`, which has the number 0.

    `counts` has how many positions, moves, and entries of turns there are. A turn is written into `draws` and `odds`
    as: the number of targets; for each target (odds: its probability) the number of alternatives; for each alternative
    the number of branches; for each branch the position's number (odds: its probability).
    """
    sc, tables, tape, out = scenario[0], port_lists[0], tapes[0], outcomes[0]
    first, second = pack(state[0], sc, tables)
    number_of(first, second, table, firsts, seconds, counts)
    is_decision[0] = True
    todo[0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        k = int(todo[waiting] >> 1)
        red_turn = todo[waiting] & 1
        if counts[0] + 4 * MAX_MOVES > len(firsts) or waiting + 4 * MAX_MOVES > len(todo):
            return POSITIONS_FULL
        if red_turn == 0:
            if counts[1] + MAX_MOVES > len(move_to):
                return MOVES_FULL
            begin = int(counts[1])
            move_start[k] = begin
            n = 0
            for action in range(NUM_ACTIONS):
                unpack(firsts[k], seconds[k], state[0], sc, tables)
                cost = defend(state[0], sc, None, action)
                first, second = pack(state[0], sc, tables)
                to = number_of(first, second, table, firsts, seconds, counts)
                known = -1
                for m in range(n):
                    if move_to[begin + m] == to:
                        known = m
                if known >= 0:
                    move_cost[begin + known] = min(cost, move_cost[begin + known])
                    continue
                move_to[begin + n] = to
                move_cost[begin + n] = cost
                n += 1
                if not is_turn[to]:
                    is_turn[to] = True
                    todo[waiting] = 2 * to + 1
                    waiting += 1
            move_count[k] = n
            counts[1] += n
            continue
        if counts[2] + 1024 > len(draws):
            return BRANCHES_FULL
        unpack(firsts[k], seconds[k], state[0], sc, tables)
        find_outcomes(state, scratch, sc, tables, tape, True, out)
        w = int(counts[2])
        turn_start[k] = w
        draws[w] = out.targets
        w += 1
        for i in range(out.targets):
            draws[w] = out.alternatives[i]
            odds[w] = out.odds[i]
            w += 1
            for a in range(out.alternatives[i]):
                draws[w] = out.branches[i, a]
                w += 1
                for b in range(out.branches[i, a]):
                    to = number_of(int(out.first[i, a, b]), int(out.second[i, a, b]), table, firsts, seconds, counts)
                    draws[w] = to
                    odds[w] = out.probability[i, a, b]
                    w += 1
                    if not is_decision[to] and out.first[i, a, b] != OVER:
                        is_decision[to] = True
                        todo[waiting] = 2 * to
                        waiting += 1
        counts[2] = w
    return DONE


@kernel(cached=True)
def rewards_of(firsts: Longs, scenario: NDArray[np.void]) -> NDArray[np.float64]:
    """Return the reward of a step into each position."""
    rewards = np.empty(len(firsts))
    for k in range(len(firsts)):
        rewards[k] = cost_of(int(firsts[k]), scenario[0])
    return rewards


@kernel(cached=True)
def set_up(state: NDArray[np.void], scenario: NDArray[np.void]) -> None:
    """Make the state that of a fresh episode."""
    reset(state[0], scenario[0])


@dataclass(frozen=True)
class Game:
    """Everything that can happen in one game: under one set of rules, against one attacker."""

    rules: str
    red: str
    firsts: Longs
    seconds: Longs
    is_decision: NDArray[np.bool_]
    is_turn: NDArray[np.bool_]
    move_start: Longs
    move_count: NDArray[np.int32]
    move_to: NDArray[np.int32]
    move_cost: NDArray[np.float64]
    turn_start: Longs
    draws: NDArray[np.int32]
    odds: NDArray[np.float64]
    rewards: NDArray[np.float64]
    table: NDArray[np.int32]

    @property
    def size(self) -> int:
        """How many positions there are."""
        return len(self.firsts)


def explore_game(rules: str, red: str, positions: int = 1 << 22) -> Game:
    """Return all positions of a game; `positions` is how many there is room for at first."""
    scenario = load_scenario(rules=rules)
    tables = make_tables(scenario)
    while True:
        state, scratch, tape = np.zeros(1, STATE), np.zeros(1, STATE), np.zeros(1, TAPE)
        state["red"] = REDS.index(red)
        set_up(records(state), records(scenario))
        n = positions
        arrays: dict[str, Any] = {
            "table": np.full(1 << (2 * n - 1).bit_length(), -1, np.int32),
            "firsts": np.zeros(n, np.int64),
            "seconds": np.zeros(n, np.int64),
            "is_decision": np.zeros(n, np.bool_),
            "is_turn": np.zeros(n, np.bool_),
            "todo": np.zeros(2 * n, np.int64),
            "move_start": np.zeros(n, np.int64),
            "move_count": np.zeros(n, np.int32),
            "move_to": np.zeros(8 * n, np.int32),
            "move_cost": np.zeros(8 * n),
            "turn_start": np.zeros(n, np.int64),
            "draws": np.zeros(48 * n, np.int32),
            "odds": np.zeros(48 * n),
        }
        counts = np.zeros(3, np.int64)
        facts = [records(a) for a in (state, scratch, scenario, tables, tape, np.zeros(1, OUTCOMES))]
        full = explore(*facts, *arrays.values(), counts)  # type: ignore[call-arg]
        if full == DONE:
            break
        positions *= 2
        if positions > 1 << 27:
            raise GarrisonError("the game has more positions than there is room for.")
    size, moves, entries = (int(count) for count in counts)
    ends = {"move_to": moves, "move_cost": moves, "draws": entries, "odds": entries, "table": len(arrays["table"])}
    del arrays["todo"]
    kept = {name: array[: ends.get(name, size)].copy() for name, array in arrays.items()}
    return Game(rules, red, **kept, rewards=rewards_of(kept["firsts"], records(scenario)))
