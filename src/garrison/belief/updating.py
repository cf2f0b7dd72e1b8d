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


@kernel(cached=True)
def update_rows(
    sets: Words,
    weights: Weights,
    counts: Counts,
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

    Returns the place of the first row for whose states the desk or the sets had no room, which is left as it was; or
    the number of rows.
    """
    for k in range(begin, len(rows)):
        row = rows[k]
        n = counts[row]
        missed = _gather(sets[row, :n], weights[row, :n], actions[k], shown[k], scenario[0], desk)
        if desk.pool.tally[1]:
            return k
        kept = keep_likeliest(desk.pool, sets[row], weights[row], most_states, least_weight)
        if kept < 0:
            return k
        counts[row] = kept
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
    return keep_likeliest(pool, found, weights, most_states, least_weight)


@kernel
def keep_likeliest(pool: StatePool, states: Words, weights: Weights, most_states: int, least_weight: float) -> int:
    """Write the likeliest states of a pool, with weights that sum to 1, and return how many; -1 if there is no room.

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
    kept = min(kept, most_states)
    if kept > len(states):
        return -1
    total = 0.0
    for k in range(kept):
        total += pool.weights[pool.order[k]]
    for k in range(kept):
        copy_words(states[k], pool.words[pool.order[k]])
        weights[k] = pool.weights[pool.order[k]] / total
    return kept


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
def weigh_rows(states: States, weights: Weights, counts: Counts, access: Weights, reds: Weights) -> None:
    """Add up how likely each access to each host is, (rows, hosts, levels), and each attacker, (rows, reds)."""
    for row in range(len(counts)):
        for i in range(counts[row]):
            env = states[row, i]
            reds[row, env.red] += weights[row, i]
            for h in range(NUM_HOSTS):
                access[row, h, env.access[h]] += weights[row, i]
