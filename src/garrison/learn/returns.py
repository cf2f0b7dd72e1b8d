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
            if terminations[t, i]:
                next_value = np.float32(0.0)
                later = np.float32(0.0)
            elif truncations[t, i]:
                next_value = final_values[t, i]
                later = np.float32(0.0)
            elif t == steps - 1:
                next_value = last_values[i]
                later = np.float32(0.0)
            else:
                next_value = values[t + 1, i]
                later = advantages[t + 1, i]
            correction = rewards[t, i] + gamma * next_value - values[t, i]
            advantages[t, i] = correction + gamma * gae_lambda * later
