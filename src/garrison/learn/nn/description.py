"""A policy as plain values, so that a checkpoint alone is enough to build it again."""

from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from garrison.errors import UserError
from garrison.learn.config import PolicyConfig
from garrison.learn.spaces.observations import ObservationForm, encoder_name
from garrison.learn.spaces.registry import observation_form

if TYPE_CHECKING:
    from garrison.learn.nn.policy import Policy


def describe_policy(
    config: PolicyConfig, observation_space: spaces.Space[Any], action_space: spaces.Space[Any]
) -> dict[str, Any]:
    """Return what is needed to build a policy of this shape."""
    return {
        "config": {**asdict(config), "hidden": list(config.hidden)},
        "observation_space": describe_space(observation_space),
        "action_space": describe_space(action_space),
    }


def build_policy(description: dict[str, Any], weights: Any) -> "Policy":
    """Build the policy that `describe_policy` described, with these weights: one flat array."""
    import torch

    from garrison.learn.nn.policy import Policy

    config = policy_config(description)
    observation_space, action_space = (build_space(description[f"{what}_space"]) for what in ("observation", "action"))
    form = observation_form(observation_space)
    inputs = form.size if is_dense(form, config) else 1
    widths = (inputs, *config.hidden, *([config.recurrent_size] * 2))
    if max(a * b for a, b in pairwise(widths)) > len(weights):  # before memory is taken for them
        raise UserError(f"the checkpoint holds {len(weights)} weights, but its network has more.")
    policy = Policy(observation_space, action_space, config)
    if len(weights) != len(policy.flat):
        raise UserError(f"the checkpoint holds {len(weights)} weights, but its network has {len(policy.flat)}.")
    policy.flat.copy_(torch.as_tensor(weights))
    return policy


def is_dense(form: ObservationForm, config: PolicyConfig) -> bool:
    """Return whether such a policy is dense layers on the inputs as they are, without looking for torch."""
    is_flat = ":" not in config.encoder and all(encoder_name(leaf, config.encoder) == "mlp" for leaf in form.leaves)
    return is_flat and not config.normalise_observations and not config.recurrent_size


def policy_config(description: dict[str, Any]) -> PolicyConfig:
    """Return the settings in what `describe_policy` returned."""
    try:
        return PolicyConfig(**{**description["config"], "hidden": tuple(description["config"]["hidden"])})
    except TypeError as error:
        raise UserError(f"the checkpoint's network has settings that this version does not know: {error}.") from None


def describe_space(space: spaces.Space[Any]) -> dict[str, Any]:
    """Return a space as plain values."""
    if isinstance(space, spaces.Box):
        return {"kind": "Box", "low": space.low, "high": space.high, "dtype": space.dtype.name}
    if isinstance(space, spaces.Discrete):
        return {"kind": "Discrete", "n": int(space.n), "start": int(space.start)}
    if isinstance(space, spaces.MultiDiscrete):
        return {"kind": "MultiDiscrete", "nvec": space.nvec, "start": space.start}
    if isinstance(space, spaces.MultiBinary):
        return {"kind": "MultiBinary", "shape": list(space.shape)}
    raise UserError(f"a checkpoint cannot describe the space {space}.")


def build_space(description: dict[str, Any]) -> spaces.Space[Any]:
    """Return the space that `describe_space` described."""
    kind = description["kind"]
    if kind == "Box":
        return spaces.Box(description["low"], description["high"], dtype=np.dtype(description["dtype"]).type)
    if kind == "Discrete":
        return spaces.Discrete(description["n"], start=description["start"])
    if kind == "MultiDiscrete":
        return spaces.MultiDiscrete(description["nvec"], start=description["start"])
    if kind == "MultiBinary":
        return spaces.MultiBinary(description["shape"])
    raise UserError(f"the checkpoint describes a space of unknown kind {kind!r}.")
