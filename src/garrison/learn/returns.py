"""Advantages from rewards and values: pure, compiled functions over (time, environment) arrays."""

import numpy as np
from numpy.typing import NDArray

from garrison.jit import kernel

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]


def gae(
    rewards: Floats,
    values: Floats,
    terminations: Flags,
    truncations: Flags,
    final_values: Floats,
    last_values: Floats,
    gamma: float,
    gae_lambda: float,
) -> Floats:
    """Return generalised advantage estimates.

    An episode that terminated is worth nothing more; one that was truncated is worth `final_values` more, the critic's
    value of its final observation. `final_values` is read only where `truncations` holds.

    Args:
        rewards: (T, N), the reward of the step from time t.
        values: (T, N), the critic's value of the observation at time t.
        terminations: (T, N), whether the step from time t ended the task.
        truncations: (T, N), whether the step from time t ran into a limit.
        final_values: (T, N), the critic's value of the observation in which the episode ended.
        last_values: (N,), the critic's value of the observation after the last step.
        gamma: discount of the next step's value.
        gae_lambda: decay of later corrections.
    """
    advantages = np.empty_like(values)
    _gae(
        rewards,
        values,
        terminations,
        truncations,
        final_values,
        last_values,
        np.float32(gamma),
        np.float32(gae_lambda),
        advantages,
    )
    return advantages


@kernel
def what_follows(
    t: int,
    i: int,
    values: Floats,
    terminations: Flags,
    truncations: Flags,
    final_values: Floats,
    last_values: Floats,
) -> tuple[np.float32, bool]:
    """Return the value after the step (t, i), and whether the rollout's next row continues its episode."""
    if terminations[t, i]:
        return np.float32(0.0), False
    if truncations[t, i]:
        return final_values[t, i], False
    if t == len(values) - 1:
        return last_values[i], False
    return values[t + 1, i], True


@kernel(cached=True)
def _gae(
    rewards: Floats,
    values: Floats,
    terminations: Flags,
    truncations: Flags,
    final_values: Floats,
    last_values: Floats,
    gamma: np.float32,
    gae_lambda: np.float32,
    advantages: Floats,
) -> None:
    steps, num_envs = rewards.shape
    for t in range(steps - 1, -1, -1):
        for i in range(num_envs):
            next_value, goes_on = what_follows(t, i, values, terminations, truncations, final_values, last_values)
            later = advantages[t + 1, i] if goes_on else np.float32(0.0)
            correction = rewards[t, i] + gamma * next_value - values[t, i]
            advantages[t, i] = correction + gamma * gae_lambda * later
