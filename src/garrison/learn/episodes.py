"""The episodes that ended last: their returns and lengths, as metrics and as part of a saved state."""

from collections.abc import Sequence
from typing import Any

import numpy as np

RECENT = 100
"""Episodes over which returns and lengths are averaged."""


class RecentEpisodes:
    """The returns and lengths of the last `RECENT` episodes.

    >>> episodes = RecentEpisodes()
    >>> episodes.metrics()
    {}
    >>> episodes.add([1.0, 2.0], [10, 20])
    >>> episodes.metrics()
    {'rollout/ep_reward_mean': 1.5, 'rollout/ep_length_mean': 15.0}
    """

    def __init__(self) -> None:
        self._returns: list[float] = []
        self._lengths: list[int] = []

    def add(self, returns: Sequence[float], lengths: Sequence[int]) -> None:
        """Take in episodes that have ended."""
        self._returns = [*self._returns, *returns][-RECENT:]
        self._lengths = [*self._lengths, *lengths][-RECENT:]

    def metrics(self) -> dict[str, float]:
        """Return the means; empty before the first episode has ended."""
        if not self._returns:
            return {}
        return {
            "rollout/ep_reward_mean": float(np.mean(self._returns)),
            "rollout/ep_length_mean": float(np.mean(self._lengths)),
        }

    def state(self) -> dict[str, Any]:
        """Return what a learner's state says of them."""
        return {"recent_returns": list(self._returns), "recent_lengths": list(self._lengths)}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a learner's state."""
        self._returns, self._lengths = list(state["recent_returns"]), list(state["recent_lengths"])
