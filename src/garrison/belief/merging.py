"""Which guesses are the same state: those that are told apart by nothing that can matter later."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import STATE
from garrison.jit import kernel

States = NDArray[np.void]
Words = NDArray[np.uint64]

PAST = ("stream", "t", "total", "reward_terms", "red_exploit")
"""Fields that say how a state came about, and the clock; nothing that happens next follows from them."""
TRIFLES = ("reported", "stale")
"""Fields that count process ids which may come again (quirk Q14): a new session in some ten thousand meets one."""

STATE_WORDS = STATE.itemsize // 8
EMPTY = -1


def _kept() -> Words:
    """Return a state as words in which a bit is set if it is not forgotten."""
    state = np.full(STATE.itemsize, 0xFF, np.uint8).view(STATE)
    for name in (*PAST, *TRIFLES):
        state[name] = 0
    return state.view(np.uint64)


KEPT = _kept()


def as_words(states: States) -> Words:
    """Return the same memory as words, with one more axis: (..., STATE_WORDS)."""
    return states.view(np.uint64).reshape(*states.shape, STATE_WORDS)


def forget_past(states: States) -> None:
    """Clear what does not decide anything from here on, so that equal states are equal bytes."""
    words = as_words(states)
    words &= KEPT


def digests(states: NDArray[Any]) -> Words:
    """Return 64 bits for each state, or row of words: two of a million agree by chance once in 40 million."""
    words = np.ascontiguousarray(states).view(np.uint64).reshape(len(states), -1)
    found = np.empty(len(states), np.uint64)
    _digest_rows(words, found)
    return found


@kernel(cached=True)
def _digest_rows(words: Words, found: Words) -> None:
    for i in range(len(words)):
        found[i] = digest(words[i])


@kernel
def digest(words: Words) -> np.uint64:
    """FNV-1a over words, with a shift so that high bits reach low ones."""
    x = np.uint64(0xCBF29CE484222325)
    for k in range(len(words)):
        x = (x ^ words[k]) * np.uint64(0x100000001B3)
        x ^= x >> np.uint64(29)
    return x


@kernel
def copy_words(target: Words, source: Words) -> None:
    """Copy a state."""
    for k in range(STATE_WORDS):
        target[k] = source[k]


class StatePool(NamedTuple):
    """States that were gathered, each once, with the sum of its weights; a hash table finds those that are there."""

    words: Words
    """(room, STATE_WORDS) the states, in the order in which they came"""
    digests: Words
    weights: NDArray[np.float64]
    order: NDArray[np.int64]
    """Places of states: the likeliest first, once they were sorted"""
    table: NDArray[np.int32]
    """The place of the state whose digest leads here, or `EMPTY`; twice as long as there is room, a power of two"""
    tally: NDArray[np.int64]
    """(2,) how many there are; whether there was no room for another"""


def make_pool(room: int) -> StatePool:
    """Return a pool for this many states, a power of two."""
    return StatePool(
        words=np.empty((room, STATE_WORDS), np.uint64),
        digests=np.empty(room, np.uint64),
        weights=np.empty(room),
        order=np.empty(room, np.int64),
        table=np.full(2 * room, EMPTY, np.int32),
        tally=np.zeros(2, np.int64),
    )


@kernel
def empty(pool: StatePool) -> None:
    """Make the pool empty."""
    for slot in range(len(pool.table)):
        pool.table[slot] = EMPTY
    pool.tally[0] = 0
    pool.tally[1] = 0


@kernel
def add(pool: StatePool, words: Words, weight: float) -> None:
    """Add a state, or its weight where an equal one is there already. The past of `words` is forgotten."""
    for k in range(STATE_WORDS):
        words[k] &= KEPT[k]
    key = digest(words)
    last = len(pool.table) - 1
    slot = np.int64(key & np.uint64(last))
    while pool.table[slot] != EMPTY:
        i = pool.table[slot]
        if pool.digests[i] == key and _are_equal(pool.words[i], words):
            pool.weights[i] += weight
            return
        slot = (slot + 1) & last
    n = pool.tally[0]
    if n == len(pool.weights):
        pool.tally[1] = 1
        return
    copy_words(pool.words[n], words)
    pool.digests[n] = key
    pool.weights[n] = weight
    pool.table[slot] = n
    pool.tally[0] = n + 1


@kernel
def _are_equal(one: Words, other: Words) -> bool:
    differing = np.uint64(0)
    for k in range(STATE_WORDS):
        differing |= one[k] ^ other[k]
    return bool(differing == 0)
