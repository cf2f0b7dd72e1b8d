"""What came of several steps of a batch that were played inside of the kernel."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.playing import LENGTH, RETURN, STEP


class RolloutEpisodes(NamedTuple):
    """The episodes that ended during a rollout, in the order of their ends."""

    steps: NDArray[np.int64]
    """The step of the rollout with which each ended, from 0"""
    envs: NDArray[np.int64]
    """The environment of each"""
    returns: NDArray[np.float64]
    """The sum of each one's rewards, also of those before the rollout"""
    lengths: NDArray[np.int64]
    """The steps of each"""


@dataclass(frozen=True)
class RolloutResult:
    """What `VectorEnv.rollout` returns."""

    observations: NDArray[np.int8]
    """(n, width) after the last step"""
    rewards: NDArray[np.float64]
    """(steps, n), or with `sums` (n,): what each environment got in all"""
    terminations: NDArray[np.bool_]
    """(steps, n), or with `sums` (n,): of the last step; CAGE-2 never terminates"""
    truncations: NDArray[np.bool_]
    """(steps, n), or with `sums` (n,): of the last step"""
    episodes: RolloutEpisodes
    """Those that ended"""


class Keeping:
    """The arrays that a rollout writes to."""

    def __init__(self, steps: int, lengths: NDArray[np.integer[Any]], sums: bool) -> None:
        n = len(lengths)
        self._sums = sums
        self.rewards = np.empty((0 if sums else steps, n))
        self.totals = np.zeros(n if sums else 0)
        self.truncations = np.empty((0 if sums else steps, n), np.bool_)
        self.episodes = np.empty((n, steps // int(lengths.min()) + 1, 3))
        self.counts = np.zeros(n, np.int64)
        self.stopped_at = np.full(1, -1, np.int64)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Those of the kernel, in its order."""
        return self.rewards, self.totals, self.truncations, self.episodes, self.counts, self.stopped_at

    def rollout(self, observations: NDArray[np.int8], truncations: NDArray[np.bool_]) -> RolloutResult:
        """Return what was kept, with the observations and truncations of the last step."""
        kept = truncations if self._sums else self.truncations
        rewards = self.totals if self._sums else self.rewards
        return RolloutResult(observations, rewards, np.zeros(kept.shape, np.bool_), kept, self._ended())

    def _ended(self) -> RolloutEpisodes:
        env, number = np.nonzero(np.arange(self.episodes.shape[1]) < self.counts[:, None])
        found = self.episodes[env, number]
        order = np.argsort(found[:, STEP], kind="stable")  # of one step: by environment, as it is
        found, env = found[order], env[order]
        steps, lengths = found[:, STEP].astype(np.int64), found[:, LENGTH].astype(np.int64)
        return RolloutEpisodes(steps, env, found[:, RETURN].copy(), lengths)
