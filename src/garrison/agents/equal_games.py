"""Which games of a batch are the same from here on: equal state, equal luck, equal memory of the agent."""

import numpy as np
from numpy.typing import NDArray

from garrison.belief.merging import digests

# What the next step writes before anything reads it.
PASSING = ("reward_terms", "blue_action", "blue_success", "placed", "found")


def first_of_equal(states: NDArray[np.void], memory: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows that are the first of their kind, and for every row its place among these.

    Args:
        states: (n,) states of environments whose agent has just chosen its action.
        memory: (n, bytes) what the agents remember, with that action.
    """
    states = states.copy()
    for name in PASSING:
        states[name] = 0
    rows = _words(np.hstack([states.view(np.uint8).reshape(len(states), -1), memory]))
    _, first, place = np.unique(digests(rows), return_index=True, return_inverse=True)
    differs = np.flatnonzero((rows != rows[first[place]]).any(axis=1))
    # Rows that only share the digest of another stay by themselves.
    place[differs] = len(first) + np.arange(len(differs))
    return np.concatenate([first, differs]), place


def _words(rows: NDArray[np.uint8]) -> NDArray[np.uint64]:
    padded = np.zeros((len(rows), -(-rows.shape[1] // 8) * 8), np.uint8)
    padded[:, : rows.shape[1]] = rows
    return padded.view(np.uint64)
