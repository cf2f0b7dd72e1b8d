"""Advantages from rewards and values: pure, compiled functions over (time, environment) arrays."""

from typing import NamedTuple

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
    endings = Endings(terminations, truncations, final_values, last_values)
    _gae(rewards, values, endings, np.float32(gamma), np.float32(gae_lambda), advantages)
    return advantages


def explained_variance(returns: Floats, values: Floats) -> float:
    """Return the share of the returns' variance that the critic's values explain."""
    variance = float(np.var(returns))
    return 1.0 - float(np.var(returns - values)) / variance if variance > 0 else 0.0


class Endings(NamedTuple):
    """Where episodes and the rollout end, and what comes after; see `gae`."""

    terminations: Flags
    truncations: Flags
    final_values: Floats
    last_values: Floats


@kernel
def what_follows(t: int, i: int, values: Floats, endings: Endings) -> tuple[np.float32, bool]:
    """Return the value after the step (t, i), and whether the rollout's next row continues its episode."""
    if endings.terminations[t, i]:
        return np.float32(0.0), False
    if endings.truncations[t, i]:
        return endings.final_values[t, i], False
    if t == len(values) - 1:
        return endings.last_values[i], False
    return values[t + 1, i], True


@kernel(cached=True)
def _gae(
    rewards: Floats, values: Floats, endings: Endings, gamma: np.float32, gae_lambda: np.float32, advantages: Floats
) -> None:
    steps, num_envs = rewards.shape
    for t in range(steps - 1, -1, -1):
        for i in range(num_envs):
            next_value, goes_on = what_follows(t, i, values, endings)
            later = advantages[t + 1, i] if goes_on else np.float32(0.0)
            correction = rewards[t, i] + gamma * next_value - values[t, i]
            advantages[t, i] = correction + gamma * gae_lambda * later
