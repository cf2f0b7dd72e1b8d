"""How rewards are scaled before learning: by a fixed factor, and if asked for, by how far returns spread.

With `normalise_returns`, rewards are divided by the running deviation of the discounted return that each environment
has gathered in its present episode (Engstrom et al., 2020), and cut off at ten deviations.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from garrison.learn.checks import check_form
from garrison.learn.config import LearnerConfig
from garrison.learn.rollout import Rollout

Floats = NDArray[np.float32]

LIMIT = 10.0
SMALLEST_VARIANCE = 1e-8


class RewardScale:
    """What rewards are multiplied by, learned from the rollouts that it is shown."""

    moments: NDArray[np.float64]
    """The number, the mean and the summed squared deviations of the discounted returns seen; may be shared memory."""

    def __init__(self, config: LearnerConfig) -> None:
        self._factor, self._gamma = np.float32(config.reward_scale), config.gamma
        self.is_running = config.normalise_returns
        self.moments = np.zeros(3)
        self._discounted: dict[int, NDArray[np.float64]] = {}

    def observe(self, rollout: Rollout, columns: slice = slice(None), source: int = 0) -> None:
        """Take in some columns of a rollout: the next steps of the environments of one source, such as an actor."""
        if not self.is_running:
            return
        rewards, starts, counted = (a[:, columns] for a in (rollout.rewards, rollout.starts, rollout.counted))
        discounted = self._discounted.get(source)
        if discounted is None or len(discounted) != rewards.shape[1]:
            discounted = np.zeros(rewards.shape[1])
        seen = np.empty(rewards.shape)
        for t in range(len(rewards)):
            discounted = rewards[t] + self._gamma * discounted * ~starts[t]
            seen[t] = discounted
        self._discounted[source] = discounted
        sample = seen[counted]
        if not len(sample):
            return
        count, mean, squares = self.moments
        total, shift = count + len(sample), sample.mean() - mean
        squares += ((sample - sample.mean()) ** 2).sum() + shift**2 * count * len(sample) / total
        self.moments[:] = total, mean + shift * len(sample) / total, squares

    def __call__(self, rewards: Floats) -> Floats:
        """Return rewards as they are learned from."""
        scaled: Floats = rewards * self._factor
        count, _, squares = self.moments
        if not self.is_running or not count:
            return scaled
        deviation = np.float32(np.sqrt(squares / count + SMALLEST_VARIANCE))
        limit = np.float32(LIMIT)
        np.clip(scaled / deviation, -limit, limit, out=scaled)
        return scaled

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps: nothing if returns are not normalised."""
        if not self.is_running:
            return {}
        discounted = self._discounted.get(0, np.zeros(0))
        kept = {"moments": torch.from_numpy(self.moments.copy()), "discounted": torch.from_numpy(discounted.copy())}
        return {"reward_scale": kept}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what `state` returned as part of a learner's state."""
        if not self.is_running or "reward_scale" not in state:
            return
        kept = state["reward_scale"]
        check_form(kept["moments"], torch.zeros(3, dtype=torch.float64), "moments of returns")
        self.moments[:] = kept["moments"].numpy()
        if len(kept["discounted"]):
            self._discounted[0] = kept["discounted"].numpy().copy()
