"""Bayes' rule for the possible states of an episode: their outcomes that fit what was shown, the likeliest of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from garrison.belief.branching import BEFORE, FITTING, SIGHT, branch, look
from garrison.belief.merging import StatePool, States, Words, add, as_words, copy_words, empty, make_pool
from garrison.cage2.layout import STATE, TAPE, Record
from garrison.cage2.names import NUM_HOSTS
from garrison.jit import kernel, records

Weights = NDArray[np.float64]
Counts = NDArray[np.int64]


class Desk(NamedTuple):
    """Where the outcomes of one environment are tried and gathered."""

    states: States
    """(3 + room,) the states at work, see `branching`"""
    words: Words
    """The same memory"""
    tape: States
    """(1,) the draws of a step"""
    sight: States
    """(1,) `SIGHT`"""
    pool: StatePool


def make_desk(room: int) -> Desk:
    """Return a desk for this many outcomes, a power of two. The orders of its tape have one entry, the aim."""
    states, tape, sight = np.zeros(FITTING + room, STATE), np.zeros(1, TAPE), np.zeros(1, SIGHT)
    tape["address_order"] = tape["host_order"] = -1
    tape["exploit_top"] = tape["detected"] = 1
    return Desk(records(states), as_words(states), records(tape), records(sight), make_pool(room))


class Sets(NamedTuple):
    """The possible states of many environments, one behind the other, with some room after each environment's own."""

    words: Words
    """(slots, words) the states"""
    weights: Weights
    """(slots,) their probabilities"""
    places: Counts
    """(n,) the slot where those of each environment begin"""
    rooms: Counts
    """(n,) how many there is room for"""
    counts: Counts
    """(n,) how many there are"""
    used: Counts
    """(1,) the slots before the first that nobody has"""


@kernel(cached=True)
def update_rows(
    sets: Sets,
    misses: Counts,
    rows: Counts,
    actions: Counts,
    shown: NDArray[np.int8],
    begin: int,
    scenario: States,
    desk: Desk,
    most_states: int,
    least_weight: float,
) -> int:
    """Update the sets of `rows` from the place `begin` on, by an action and what was shown then for each.

    Where an environment's states outgrow their room they move behind all others. Returns the place of the first row for
    whose states the desk or the sets had no room, which is left as it was; or the number of rows.
    """
    for k in range(begin, len(rows)):
        row = rows[k]
        first, end = sets.places[row], sets.places[row] + sets.counts[row]
        missed = _gather(sets.words[first:end], sets.weights[first:end], actions[k], shown[k], scenario[0], desk)
        if desk.pool.tally[1]:
            return k
        kept = choose_likeliest(desk.pool, most_states, least_weight)
        if kept > sets.rooms[row]:
            room = sets.rooms[row]
            while room < kept:
                room *= 2
            if sets.used[0] + room > len(sets.weights):
                return k
            first, sets.rooms[row] = sets.used[0], room
            sets.places[row] = first
            sets.used[0] += room
        write_likeliest(desk.pool, kept, sets.words[first:], sets.weights[first:])
        sets.counts[row] = kept
        misses[row] += missed
    return len(rows)


@kernel
def _gather(states: Words, weights: Weights, action: int, shown: NDArray[np.int8], sc: Record, desk: Desk) -> bool:
    """Gather the outcomes that show what was shown, or the nearest to it; return whether none was exactly so."""
    if _branch_all(states, weights, action, shown, 0, sc, desk) == 0:
        return False
    # Rare: the attacker or the rules are others than was assumed.
    nearest = _branch_all(states, weights, action, shown, 1, sc, desk)
    if nearest > 1:
        _branch_all(states, weights, action, shown, nearest, sc, desk)
    return True


@kernel
def _branch_all(
    states: Words,
    weights: Weights,
    action: int,
    shown: NDArray[np.int8],
    allowed: int,
    sc: Record,
    desk: Desk,
) -> int:
    """Gather the outcomes of all states that differ by the allowed bits; return by how many the nearest does."""
    pool, found, words, tape, sight = desk.pool, desk.states, desk.words, desk.tape[0], desk.sight[0]
    empty(pool)
    look(sight, shown, allowed)
    nearest = len(shown)
    for i in range(len(states)):
        copy_words(words[BEFORE], states[i])
        nearest = min(nearest, branch(found, tape, sight, sc, weights[i], action))
        end = FITTING + sight.fitting
        if end > len(found):
            pool.tally[1] = 1
            continue
        for place in range(FITTING, end):
            add(pool, words[place], found[place].total)
    return nearest


@kernel(cached=True)
def settle(
    states: Words, odds: Weights, pool: StatePool, found: Words, weights: Weights, most_states: int, least_weight: float
) -> int:
    """Write the likeliest of `states` in their order, each once, without their past; return how many these are."""
    empty(pool)
    for i in range(len(states)):
        add(pool, states[i], odds[i])
    kept = choose_likeliest(pool, most_states, least_weight)
    write_likeliest(pool, kept, found, weights)
    return kept


@kernel
def choose_likeliest(pool: StatePool, most_states: int, least_weight: float) -> int:
    """Put the likeliest states of a pool first in its order, and return how many they are.

    The largest weight comes first; of equal ones, the state with the lower digest.
    """
    total = 0.0
    largest = 0.0
    for i in range(pool.tally[0]):
        total += pool.weights[i]
        largest = max(largest, pool.weights[i])
    kept = 0
    for i in range(pool.tally[0]):
        if pool.weights[i] / total >= min(least_weight, largest / total):
            pool.order[kept] = i
            kept += 1
    _sort(pool, kept)
    return min(kept, most_states)


@kernel
def write_likeliest(pool: StatePool, kept: int, states: Words, weights: Weights) -> None:
    """Write the first states of a pool's order, with weights that sum to 1."""
    total = 0.0
    for k in range(kept):
        total += pool.weights[pool.order[k]]
    for k in range(kept):
        copy_words(states[k], pool.words[pool.order[k]])
        weights[k] = pool.weights[pool.order[k]] / total


@kernel
def _sort(pool: StatePool, count: int) -> None:
    """Sort the first `count` places of a pool's order (Shell's sort: short, and quick for the few that there are)."""
    order = pool.order
    gap = count // 2
    while gap > 0:
        for k in range(gap, count):
            moved = order[k]
            at = k
            while at >= gap and _comes_before(pool, moved, order[at - gap]):
                order[at] = order[at - gap]
                at -= gap
            order[at] = moved
        gap //= 2


@kernel
def _comes_before(pool: StatePool, one: int, other: int) -> bool:
    if pool.weights[one] != pool.weights[other]:
        return bool(pool.weights[one] > pool.weights[other])
    return bool(pool.digests[one] < pool.digests[other])


@kernel(cached=True)
def weigh_rows(
    states: States, weights: Weights, places: Counts, counts: Counts, access: Weights, reds: Weights
) -> None:
    """Add up how likely each access to each host is, (rows, hosts, levels), and each attacker, (rows, reds)."""
    for row in range(len(counts)):
        for i in range(places[row], places[row] + counts[row]):
            env = states[i]
            reds[row, env.red] += weights[i]
            for h in range(NUM_HOSTS):
                access[row, h, env.access[h]] += weights[i]
