"""All positions that an episode can reach, and what leads from each to which.

A *decision* is a position in which Blue is to act, a *turn* one in which Blue has acted and Red is to move. Both are
positions; many are both. Blue's 145 actions are all tried on the simulator; those that lead to the same turn are one
move. `telling_actions` are those of them that can change a position at all, for who is in a hurry.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.defend import defend
from garrison.cage2.layout import STATE, TAPE, Record
from garrison.cage2.names import ACTIONS, NUM_ACTIONS, NUM_HOSTS, REDS, BlueKind, Host, Red
from garrison.cage2.scenario import load_scenario
from garrison.cage2.step import reset
from garrison.jit import kernel, records
from garrison.limit.outcomes import LONGEST, OUTCOMES, find_outcomes
from garrison.limit.port_lists import make_tables
from garrison.limit.positions import OVER, PRIVILEGED, pack, unpack

Longs = NDArray[np.int64]

MAX_ENTRIES = 1024  # of one turn, and also more than the positions that can follow on it


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
    depths: NDArray[np.int16],
    move_start: Longs,
    move_count: NDArray[np.int32],
    move_to: NDArray[np.int32],
    move_cost: NDArray[np.float64],
    turn_start: Longs,
    draws: NDArray[np.int32],
    odds: NDArray[np.float64],
    actions: Longs,
    steps: int,
    counts: Longs,
) -> bool:
    """Explore what `steps` steps can reach, and return True; or until an array is full, to go on with longer ones.

    The position of `state[0]` at first has the number 0. `counts` has how many positions, moves, entries of turns,
    things to do and things done there are. A turn is written into `draws` and `odds` as: the number of targets; for
    each target (odds: its probability) the number of alternatives; for each alternative the number of branches; for
    each branch the position's number (odds: its probability).
    """
    sc, tables, tape, out = scenario[0], port_lists[0], tapes[0], outcomes[0]
    if counts[0] == 0:
        first, second = pack(state[0], sc, tables)
        number_of(first, second, table, firsts, seconds, counts)
        is_decision[0] = True
        counts[3] = 1
    while counts[4] < counts[3]:
        end = int(counts[3])
        if (
            counts[0] + MAX_ENTRIES > len(firsts)
            or counts[1] + len(actions) > len(move_to)
            or counts[2] + MAX_ENTRIES > len(draws)
        ):
            return False
        k = int(todo[counts[4]] >> 1)
        depth = depths[counts[4]]
        is_blues = todo[counts[4]] & 1 == 0
        counts[4] += 1
        if is_blues and depth >= steps:
            continue
        if is_blues:
            begin = int(counts[1])
            move_start[k] = begin
            n = 0
            unpack(firsts[k], seconds[k], state[0], sc, tables)
            for action in actions:
                scratch[0] = state[0]
                cost = defend(scratch[0], sc, None, action)
                first, second = pack(scratch[0], sc, tables)
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
                    todo[end] = 2 * to + 1
                    depths[end] = depth
                    end += 1
            move_count[k] = n
            counts[1] += n
            counts[3] = end
            continue
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
                        todo[end] = 2 * to
                        depths[end] = depth + 1
                        end += 1
        counts[2] = w
        counts[3] = end
    return True


@kernel(cached=True)
def fill_table(table: NDArray[np.int32], firsts: Longs, seconds: Longs, count: int) -> None:
    """Enter the positions into an empty hash table."""
    for k in range(count):
        table[find(int(firsts[k]), int(seconds[k]), table, firsts, seconds)] = k


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


LENGTHS: dict[str, tuple[Any, int]] = {
    "firsts": (np.int64, 1),
    "seconds": (np.int64, 1),
    "is_decision": (np.bool_, 1),
    "is_turn": (np.bool_, 1),
    "todo": (np.int64, 2),
    "depths": (np.int16, 2),
    "move_start": (np.int64, 1),
    "move_count": (np.int32, 1),
    "move_to": (np.int32, 6),
    "move_cost": (np.float64, 6),
    "turn_start": (np.int64, 1),
    "draws": (np.int32, 16),
    "odds": (np.float64, 16),
}
"""The arrays of `explore`: their types, and how long they are for each position that there is room for."""


@dataclass(frozen=True)
class GameGraph:
    """Everything that can happen in episodes of at most `steps` steps under one set of rules, against one attacker."""

    rules: str
    red: str
    steps: int
    listed: int
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


def telling_actions(red: str, listed: int = 0) -> Longs:
    """Return the actions that can change a position, and Sleep, which stands for all others.

    Monitor and Analyse change only what Blue sees, and so does a decoy where Red's list is no part of the position.
    """
    if REDS.index(red) == Red.BLINE:
        decoyed = range(Host.ENTERPRISE0, Host.USER4 + 1)
    else:
        decoyed = range(Host.USER1, Host.USER1 + listed)
    kept = [
        number
        for number, action in enumerate(ACTIONS)
        if action.kind in (BlueKind.SLEEP, BlueKind.REMOVE, BlueKind.RESTORE)
        or (action.kind == BlueKind.DECOY and action.host in decoyed)
    ]
    return np.array(kept)


def explore_game(
    rules: str,
    red: str,
    steps: int = LONGEST,
    listed: int = 0,
    room: int = 1 << 18,
    actions: Longs | None = None,
) -> GameGraph:
    """Return all positions that an episode of some steps can reach.

    Args:
        rules: `head` or `leaderboard`.
        red: `bline` or `meander`.
        steps: of the episode, at most `LONGEST`.
        listed: against Meander, how many user hosts, from User1 on, keep Red's lists of their ports; up to 3, for
            decoys cannot change that of User4. More of them make tighter bounds, and several times as many positions.
        room: for how many positions there is room at first.
        actions: those of Blue that are tried; by default all.
    """
    tried = np.arange(NUM_ACTIONS) if actions is None else actions
    scenario = load_scenario(rules=rules)
    state = np.zeros(1, STATE)
    state["red"] = REDS.index(red)
    places = (np.zeros(1, STATE), scenario, make_tables(scenario, listed), np.zeros(1, TAPE), np.zeros(1, OUTCOMES))
    facts = [records(array) for array in (state, *places)]
    set_up(facts[0], facts[2])
    arrays: dict[str, Any] = {name: np.zeros(0, dtype) for name, (dtype, _) in LENGTHS.items()}
    counts = np.zeros(5, np.int64)
    done = False
    while not done:
        for name, (_, times) in LENGTHS.items():
            more = np.zeros(times * room - len(arrays[name]), arrays[name].dtype)
            arrays[name] = np.concatenate([arrays[name], more])
        table = np.full(1 << (2 * room - 1).bit_length(), -1, np.int32)
        fill_table(table, arrays["firsts"], arrays["seconds"], int(counts[0]))
        done = explore(*facts, table, *arrays.values(), tried, steps, counts)  # type: ignore[call-arg]
        room *= 2
    ends = {"move_to": counts[1], "move_cost": counts[1], "draws": counts[2], "odds": counts[2]}
    del arrays["todo"], arrays["depths"]
    kept = {name: array[: ends.get(name, counts[0])].copy() for name, array in arrays.items()}
    return GameGraph(rules, red, steps, listed, table=table, **kept, rewards=rewards_of(kept["firsts"], facts[2]))
