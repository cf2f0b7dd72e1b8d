"""A policy as plain values, so that a checkpoint alone is enough to build it again."""

from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from garrison.errors import UserError
from garrison.learn.config import PolicyConfig
from garrison.learn.spaces.observations import ObservationForm, encoder_name
from garrison.learn.spaces.registry import action_distribution, observation_form

if TYPE_CHECKING:
    from garrison.learn.nn.policy import Policy


def describe_policy(
    config: PolicyConfig,
    observation_space: spaces.Space[Any],
    action_space: spaces.Space[Any],
    extras_space: spaces.Dict | None = None,
) -> dict[str, Any]:
    """Return what is needed to build a policy of this shape."""
    return {
        "config": {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(config).items()},
        "observation_space": describe_space(observation_space),
        "action_space": describe_space(action_space),
        **({} if extras_space is None else {"extras_space": describe_space(extras_space)}),
    }


def build_policy(description: dict[str, Any], weights: Any) -> "Policy":
    """Build the policy that `describe_policy` described, with these weights: one flat array."""
    import torch

    from garrison.learn.nn.policy import Policy

    config = policy_config(description)
    observation_space, action_space = (build_space(description[f"{what}_space"]) for what in ("observation", "action"))
    form, actions = observation_form(observation_space), action_distribution(action_space, config)
    inputs = form.size if is_dense(form, config) else 1
    widths = (inputs, *config.hidden, *([config.recurrent_size] * 2))
    largest = max(actions.outputs - actions.free_outputs, *(a * b for a, b in pairwise(widths)))
    if largest > len(weights):  # before memory is taken for them
        raise UserError(f"the checkpoint holds {len(weights)} weights, but its network has more.")
    extras = build_space(description["extras_space"]) if "extras_space" in description else None
    assert extras is None or isinstance(extras, spaces.Dict)
    policy = Policy(observation_space, action_space, config, extras_space=extras)
    if len(weights) != len(policy.flat):
        raise UserError(f"the checkpoint holds {len(weights)} weights, but its network has {len(policy.flat)}.")
    policy.flat.copy_(torch.as_tensor(weights))
    return policy


def is_dense(form: ObservationForm, config: PolicyConfig) -> bool:
    """Return whether such a policy is dense layers on the inputs as they are, without looking for torch."""
    return not (has_encoder(form, config) or config.normalise_observations or config.recurrent_size)


def has_encoder(form: ObservationForm, config: PolicyConfig) -> bool:
    """Return whether such a policy sees something through convolutions or a module of the user's own."""
    return ":" in config.encoder or any(encoder_name(leaf, config.encoder) != "mlp" for leaf in form.leaves)


def policy_config(description: dict[str, Any]) -> PolicyConfig:
    """Return the settings in what `describe_policy` returned."""
    try:
        values: Any = {k: tuple(v) if isinstance(v, list) else v for k, v in description["config"].items()}
        return PolicyConfig(**values)
    except TypeError as error:
        raise UserError(f"the checkpoint's network has settings that this version does not know: {error}.") from None


STORED = {"float16": "float32", "uint16": "int32"}
"""Types that a checkpoint has no arrays of, and those that hold the same numbers."""


def describe_space(space: spaces.Space[Any]) -> dict[str, Any]:
    """Return a space as plain values, such that `build_space` returns an equal one."""
    if isinstance(space, spaces.Box):
        low, high = (_storable(bound) for bound in (space.low, space.high))
        return {"kind": "Box", "low": low, "high": high, "dtype": space.dtype.name}
    if isinstance(space, spaces.Discrete):
        return {"kind": "Discrete", "n": int(space.n), "start": int(space.start), **_dtype(space)}
    if isinstance(space, spaces.MultiDiscrete):
        nvec, start = _storable(space.nvec), _storable(space.start)
        return {"kind": "MultiDiscrete", "nvec": nvec, "start": start, **_dtype(space)}
    if isinstance(space, spaces.MultiBinary):
        return {"kind": "MultiBinary", "shape": list(space.shape)}
    if isinstance(space, spaces.Dict) and all(isinstance(key, str) for key in space.spaces):
        # Two lists, because the order of the keys is part of the space and that of a mapping in a file is not.
        return {"kind": "Dict", "keys": list(space.spaces), "parts": [*map(describe_space, space.spaces.values())]}
    if isinstance(space, spaces.Tuple):
        return {"kind": "Tuple", "parts": [*map(describe_space, space.spaces)]}
    raise UserError(f"a checkpoint cannot describe the space {space}.")


def build_space(description: dict[str, Any]) -> spaces.Space[Any]:
    """Return the space that `describe_space` described."""
    kind = description["kind"]
    if kind == "Box":
        dtype = np.dtype(description["dtype"])
        low, high = (description[bound].astype(dtype) for bound in ("low", "high"))
        return spaces.Box(low, high, dtype=dtype.type)
    dtypes = {"dtype": np.dtype(description["dtype"])} if "dtype" in description else {}
    if kind == "Discrete":
        return spaces.Discrete(description["n"], start=description["start"], **dtypes)
    if kind == "MultiDiscrete":
        return spaces.MultiDiscrete(description["nvec"], start=description["start"], **dtypes)
    if kind == "MultiBinary":
        shape = description["shape"]
        return spaces.MultiBinary(shape if len(shape) > 1 else shape[0])
    if kind == "Dict":
        parts = map(build_space, description["parts"])
        return spaces.Dict(list(zip(description["keys"], parts, strict=True)))
    if kind == "Tuple":
        return spaces.Tuple([*map(build_space, description["parts"])])
    raise UserError(f"the checkpoint describes a space of unknown kind {kind!r}.")


def _storable(array: Any) -> Any:
    return array.astype(STORED.get(array.dtype.name, array.dtype))


def _dtype(space: spaces.Space[Any]) -> dict[str, str]:
    """Return the type of whole numbers, if it is not the usual one."""
    name = np.dtype(space.dtype).name
    return {} if name == "int64" else {"dtype": name}
