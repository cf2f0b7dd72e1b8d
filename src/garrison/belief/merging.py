"""Which guesses are the same state: those that are told apart by nothing that can matter later."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.jit import kernel

States = NDArray[np.void]

PAST = ("stream", "t", "total", "reward_terms", "red_exploit")
"""Fields that say how a state came about, and the clock; nothing that happens next follows from them."""
TRIFLES = ("reported", "stale")
"""Fields that count process ids which may come again (quirk Q14): a new session in some ten thousand meets one."""


def forget_past(states: States) -> None:
    """Clear what does not decide anything from here on, so that equal states are equal bytes."""
    for name in (*PAST, *TRIFLES):
        states[name] = 0


def merge(states: States, weights: NDArray[np.float64]) -> tuple[States, NDArray[np.float64]]:
    """Return each state once, with the sum of its weights. The past of `states` is forgotten."""
    forget_past(states)
    _, first, group = np.unique(digests(states), return_index=True, return_inverse=True)
    sums: NDArray[np.float64] = np.bincount(group, weights, len(first)).astype(np.float64)
    return states[first], sums


def digests(states: NDArray[Any]) -> NDArray[np.uint64]:
    """Return 64 bits for each state, or row of words: two of a million agree by chance once in 40 million."""
    words = np.ascontiguousarray(states).view(np.uint64).reshape(len(states), -1)
    found = np.empty(len(states), np.uint64)
    _digest(words, found)
    return found


@kernel(cached=True)
def _digest(words: NDArray[np.uint64], found: NDArray[np.uint64]) -> None:
    """FNV-1a over words, with a shift so that high bits reach low ones."""
    for i in range(len(words)):
        x = np.uint64(0xCBF29CE484222325)
        for k in range(words.shape[1]):
            x = (x ^ words[i, k]) * np.uint64(0x100000001B3)
            x ^= x >> np.uint64(29)
        found[i] = x
