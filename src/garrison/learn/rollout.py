"""What is collected between two updates: preallocated (time, environment) arrays, observations stored compactly."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from garrison.learn.spaces import Actions, Observations

Take = Callable[[tuple[int, ...], np.dtype[Any]], NDArray[Any]]


@dataclass
class Rollout:
    """`T` steps of `N` environments; row t holds what was seen at time t and what the step from there brought."""

    observations: NDArray[Any]
    """(T + 1, N, stored shape): what was seen, as `Observations` stores it; the last row begins the next rollout."""
    indices: NDArray[np.int32]
    """(T, N, heads): the index chosen in each head."""
    masks: NDArray[np.bool_]
    """(T, N, outputs): what was allowed; (0, 0, 0) without action masks."""
    log_probs: NDArray[np.float32]
    """(T, N): the log-probability of the choice when it was made."""
    values: NDArray[np.float32]
    """(T, N): the critic's value when the choice was made."""
    rewards: NDArray[np.float32]
    """(T, N): as the environment gave them."""
    terminations: NDArray[np.bool_]
    """(T, N): whether the step ended the task."""
    truncations: NDArray[np.bool_]
    """(T, N): whether the step ran into a limit."""
    final_values: NDArray[np.float32]
    """(T, N): where truncated, the critic's value of the observation in which the episode ended."""
    last_values: NDArray[np.float32]
    """(N,): the critic's value after the last step."""
    starts: NDArray[np.bool_]
    """(T, N): whether an episode starts at this observation."""
    counted: NDArray[np.bool_]
    """(T, N): whether the step is one of the task; False where it only reset the environment."""

    @classmethod
    def allocate(
        cls, steps: int, num_envs: int, observations: Observations, actions: Actions, masked: bool
    ) -> "Rollout":
        """Make room for `steps` steps of `num_envs` environments."""
        rollout = cls.carve(np.zeros, steps, num_envs, observations, actions, masked)
        rollout.counted[:] = True
        return rollout

    @classmethod
    def carve(
        cls, take: Take, steps: int, num_envs: int, observations: Observations, actions: Actions, masked: bool
    ) -> "Rollout":
        """Lay the arrays of `steps` steps out in memory that `take` gives, which may be shared."""
        shape = (steps, num_envs)
        flags, floats = np.dtype(np.bool_), np.dtype(np.float32)
        return cls(
            observations=take((steps + 1, num_envs, *observations.shape), observations.dtype),
            indices=take((*shape, actions.heads), np.dtype(np.int32)),
            masks=take((*shape, actions.size) if masked else (0, 0, 0), flags),
            log_probs=take(shape, floats),
            values=take(shape, floats),
            rewards=take(shape, floats),
            terminations=take(shape, flags),
            truncations=take(shape, flags),
            final_values=take(shape, floats),
            last_values=take((num_envs,), floats),
            starts=take(shape, flags),
            counted=take(shape, flags),
        )

    @property
    def steps(self) -> int:
        """The number of steps of each environment."""
        return len(self.rewards)

    @property
    def num_envs(self) -> int:
        """The number of environments."""
        return int(self.rewards.shape[1])


@dataclass(frozen=True)
class Batch:
    """A rollout as one list of samples, with what learning adds; views, not copies. Sample t * N + i is row (t, i)."""

    observations: NDArray[Any]
    indices: NDArray[np.int32]
    masks: NDArray[np.bool_]
    log_probs: NDArray[np.float32]
    values: NDArray[np.float32]
    advantages: NDArray[np.float32]
    returns: NDArray[np.float32]
    starts: NDArray[np.bool_]
    counted: NDArray[np.bool_]
    initial_state: Tensor
    """(towers, N, recurrent_size): the policy's memory before the first step."""

    @classmethod
    def of(
        cls,
        rollout: Rollout,
        advantages: NDArray[np.float32],
        initial_state: Tensor,
        log_probs: NDArray[np.float32] | None = None,
        values: NDArray[np.float32] | None = None,
        returns: NDArray[np.float32] | None = None,
    ) -> "Batch":
        """Flatten a rollout and its advantages; a learner that is not the collector gives its own estimates as well."""
        size = rollout.steps * rollout.num_envs
        masks = rollout.masks
        log_probs = rollout.log_probs if log_probs is None else log_probs
        values = rollout.values if values is None else values
        returns = advantages + values if returns is None else returns
        return cls(
            observations=rollout.observations[:-1].reshape(size, -1),
            indices=rollout.indices.reshape(size, -1),
            masks=masks.reshape(size, -1) if len(masks) else masks[0:0].reshape(0, 0),
            log_probs=log_probs.reshape(size),
            values=values.reshape(size),
            advantages=advantages.reshape(size),
            returns=returns.reshape(size),
            starts=rollout.starts,
            counted=rollout.counted,
            initial_state=initial_state,
        )

    def minibatches(self, count: int, sequences: bool, random: np.random.Generator) -> list[NDArray[np.int64]]:
        """Split the counted samples at random into `count` lists of rows; or whole sequences, as (T, n) rows."""
        steps, num_envs = self.counted.shape
        if sequences:
            grid = np.arange(steps * num_envs).reshape(steps, num_envs)
            return [grid[:, part] for part in np.array_split(random.permutation(num_envs), min(count, num_envs))]
        rows = np.flatnonzero(self.counted)
        return np.array_split(random.permutation(rows), min(count, len(rows)))
