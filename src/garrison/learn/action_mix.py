"""Which actions were taken, as metrics: `actions/Restore` is the share of the collected actions that were a Restore."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

PREFIX = "actions/"
MOST = 32
"""Actions without names are logged by their numbers if there are no more than this; more would only be noise."""

Counts = NDArray[np.int64]


def count_actions(choices: NDArray[Any], space: spaces.Space[Any]) -> Counts | None:
    """Return how often each action was chosen, for actions that are one whole number; None for others."""
    if not isinstance(space, spaces.Discrete):
        return None
    return np.bincount(choices.reshape(-1), minlength=int(space.n))


def action_mix(counts: Counts | None, kinds: Sequence[str] | None) -> dict[str, float]:
    """Return the shares as metrics; `kinds` names each action, several may have one name, and None means numbers.

    >>> action_mix(np.array([1, 2, 1]), ("Sleep", "Restore", "Restore"))
    {'actions/Sleep': 0.25, 'actions/Restore': 0.75}
    """
    if counts is None or (kinds is None and len(counts) > MOST):
        return {}
    names = [str(number) for number in range(len(counts))] if kinds is None else kinds
    shares = dict.fromkeys(names, 0.0)
    total = max(1, int(counts.sum()))
    for name, count in zip(names, counts.tolist(), strict=True):
        shares[name] += count / total
    return {PREFIX + name: round(share, 6) for name, share in shares.items()}
