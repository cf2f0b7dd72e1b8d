"""V-trace (Espeholt et al., 2018): value targets and advantages from steps that another policy took."""

from typing import NamedTuple

import numpy as np

from garrison.jit import kernel
from garrison.learn.returns import Endings, Flags, Floats, what_follows


class VTrace(NamedTuple):
    """What V-trace makes of a rollout; each (T, N)."""

    targets: Floats
    """What the critic should say: v_t."""
    advantages: Floats
    """r_t + gamma * (what comes next) - V_t, not yet weighted by the ratio."""
    weights: Floats
    """min(rho_bar, ratio), by which the policy's gradient is weighted."""


def vtrace(
    log_ratios: Floats,
    rewards: Floats,
    values: Floats,
    terminations: Flags,
    truncations: Flags,
    final_values: Floats,
    last_values: Floats,
    gamma: float,
    rho_bar: float = 1.0,
    c_bar: float = 1.0,
    vtrace_lambda: float = 1.0,
) -> VTrace:
    """Return V-trace's value targets, advantages and weights.

    Episodes end as in `gae`: one that terminated is worth nothing more, one that was truncated `final_values` more.

        delta_t      = min(rho_bar, ratio_t) * (r_t + gamma * V_{t+1} - V_t)
        v_t          = V_t + delta_t + gamma * lambda * min(c_bar, ratio_t) * (v_{t+1} - V_{t+1})
        advantage_t  = r_t + gamma * (lambda * v_{t+1} + (1 - lambda) * V_{t+1}) - V_t

    With lambda 1 these are the paper's equations, with v_{t+1} in the advantage and not V_{t+1}. With equal policies
    the advantage is `gae`'s for any lambda, and an n-step return less the value for lambda 1.

    Args:
        log_ratios: (T, N), log-probability of the action under the learner's policy less that under the actor's.
        rewards: (T, N), the reward of the step from time t.
        values: (T, N), the learner's value of the observation at time t.
        terminations: (T, N), whether the step from time t ended the task.
        truncations: (T, N), whether the step from time t ran into a limit.
        final_values: (T, N), the value of the observation in which the episode ended; read only where truncated.
        last_values: (N,), the learner's value of the observation after the last step.
        gamma: discount of the next step's value.
        rho_bar: the largest weight of a temporal difference: decides which policy's value is learned.
        c_bar: the largest weight of later corrections: decides how quickly.
        vtrace_lambda: decay of later corrections.
    """
    result = VTrace(*(np.empty_like(values) for _ in VTrace._fields))
    settings = _Settings(*(np.float32(x) for x in (gamma, rho_bar, c_bar, vtrace_lambda)))
    endings = Endings(terminations, truncations, final_values, last_values)
    _vtrace(log_ratios, rewards, values, endings, settings, result)
    return result


class _Settings(NamedTuple):
    gamma: np.float32
    rho_bar: np.float32
    c_bar: np.float32
    vtrace_lambda: np.float32


@kernel(cached=True)
def _vtrace(
    log_ratios: Floats, rewards: Floats, values: Floats, endings: Endings, settings: _Settings, out: VTrace
) -> None:
    gamma, rho_bar, c_bar, vtrace_lambda = settings
    targets, advantages, weights = out
    steps, num_envs = rewards.shape
    for t in range(steps - 1, -1, -1):
        for i in range(num_envs):
            next_value, goes_on = what_follows(t, i, values, endings)
            later = targets[t + 1, i] - next_value if goes_on else np.float32(0.0)
            ratio = np.float32(np.exp(log_ratios[t, i]))
            weights[t, i] = min(rho_bar, ratio)
            difference = rewards[t, i] + gamma * next_value - values[t, i]
            correction = gamma * vtrace_lambda * later
            targets[t, i] = values[t, i] + weights[t, i] * difference + min(c_bar, ratio) * correction
            advantages[t, i] = difference + correction
