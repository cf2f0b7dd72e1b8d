"""What a learner checks: that a state fits its policy, and that its numbers stay finite."""

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np
import torch

from garrison.errors import UserError
from garrison.learn.nn.loss import Means
from garrison.learn.nn.policy import Policy
from garrison.learn.result import Diverged
from garrison.learn.rollout import Rollout

STATE_FORMAT = 1
"""Of the states that learners save."""


def check_resumable(state: dict[str, Any], algorithm: str, policy: Policy) -> None:
    """Raise a UserError if `state` is not one of this algorithm and this policy."""
    if state.get("format") != STATE_FORMAT or state.get("algorithm") != algorithm:
        raise UserError(
            f"cannot resume: the state is of algorithm {state.get('algorithm')!r}, format {state.get('format')!r}; "
            f"this {algorithm.upper()} reads format {STATE_FORMAT}."
        )
    check_shape(state["weights"], policy, "resume")


def check_shape(weights: torch.Tensor, policy: Policy, what: str) -> None:
    """Raise a UserError if these are not the weights of such a policy; `what` says what they are wanted for."""
    if weights.shape != policy.flat.shape:
        raise UserError(
            f"cannot {what}: the state holds {len(weights)} weights and this policy has {len(policy.flat)}; "
            "the policy's settings or the environment's spaces differ."
        )


def start_from(weights: torch.Tensor | None, policy: Policy) -> None:
    """Let a policy start from the weights of another one, if there are any; raise a UserError if they do not fit."""
    if weights is not None:
        check_shape(weights, policy, "start")
        policy.flat.copy_(weights)


def check_env_count(state: dict[str, Any], num_envs: int) -> None:
    """Raise a UserError if a collector's `state` is not one of this many environments."""
    if "streams" not in state:
        raise UserError("cannot resume: the state holds no streams of random numbers, so it is of another learner.")
    saved = len(state["streams"])
    if saved != num_envs:
        raise UserError(f"cannot resume: the state is of {saved} environments, and there are {num_envs}.")


def check_form(saved: Any, present: Any, what: str) -> None:
    """Raise a UserError if an array of a saved state is not of the type and shape of the present one."""
    if not isinstance(saved, torch.Tensor) or (saved.dtype, saved.shape) != (present.dtype, present.shape):
        raise UserError(
            f"cannot resume: the saved {what} do not fit these environments and this policy.",
            hint="They are of another version, or the checkpoint was changed: start a new run.",
        )


def check_finite(rollout: Rollout, updates: int, state: Callable[[], dict[str, Any]]) -> None:
    """Raise Diverged if what was collected holds a number that is not finite."""
    for name in ("rewards", "values", "log_probs"):
        array = getattr(rollout, name)
        if not np.isfinite(array.sum(dtype=np.float64)):
            t, i = np.argwhere(~np.isfinite(array))[0]
            raise Diverged(
                f"{name} are not finite while collecting for update {updates + 1}: first at step {t} of the rollout, "
                f"environment {i}: {array[t, i]}.",
                state(),
            )


def find_not_finite(means: Means, norm: float) -> str | None:
    """Name the first quantity of a minibatch that is not finite."""
    if isfinite(sum(means, norm)):  # nearly always
        return None
    for name, value in zip(Means._fields, means, strict=True):
        if not isfinite(value):
            return f"the loss's part {name!r}"
    return None if isfinite(norm) else "the gradient"
