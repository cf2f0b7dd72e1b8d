"""What a run's checkpoint holds: one table, checked whenever one is loaded.

A checksum only says that a file is as it was written. Whoever wrote it may have been another program or version, so
every value that is used is checked here for its type, its range and whether it fits the others; what depends on the
environments is checked where they are.
"""

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.errors import UserError
from garrison.storage.renamed_settings import with_present_names
from garrison.storage.schema import (
    COUNT,
    COUNTS,
    HIGHEST,
    MAPPING,
    NUMBER,
    NUMBERS,
    SECONDS,
    SETTINGS,
    TEXT,
    Kind,
    Missing,
    Wrong,
    check,
    is_count,
    is_plain,
    present,
)

DEEPEST = 16
"""Levels of Dict and Tuple spaces in one another."""


def _is_array(value: Any, *types: str, axes: int | None = None) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.name in types and axes in (None, value.ndim)


def _is_finite(value: Any, *types: str, axes: int | None = None) -> bool:
    return _is_array(value, *types, axes=axes) and bool(np.isfinite(value).all())


def _is_space(value: Any, depth: int = 0) -> bool:
    if not isinstance(value, dict) or depth > DEEPEST:
        return False
    if "dtype" in value and not _is_dtype(value["dtype"], "biuf" if value.get("kind") == "Box" else "iu"):
        return False
    match value:
        case {"kind": "Box", "low": np.ndarray() as low, "high": np.ndarray() as high, "dtype": _}:
            ordered = low.shape == high.shape and low.dtype.kind in "biuf" and high.dtype.kind in "biuf"
            return ordered and low.size > 0 and bool(np.all(low <= high)) and _holds(value["dtype"], low, high)
        case {"kind": "Discrete", "n": n, "start": int() as start}:
            return is_count(n) and n > 0 and abs(start) < HIGHEST and _fits(value, start, start + n - 1)
        case {"kind": "MultiDiscrete", "nvec": np.ndarray() as nvec, "start": np.ndarray() as start}:
            whole = nvec.dtype.kind in "iu" and start.dtype.kind in "iu" and nvec.shape == start.shape
            if not whole or not nvec.size or not np.all((nvec > 0) & (nvec < HIGHEST) & (abs(start) < HIGHEST)):
                return False
            return _fits(value, start.min(), (start.astype(np.int64) + nvec.astype(np.int64) - 1).max())
        case {"kind": "MultiBinary", "shape": list() as shape}:
            return bool(shape) and all(is_count(length) and length > 0 for length in shape)
        case {"kind": "Dict", "keys": list() as keys, "parts": list() as parts}:
            named = all(isinstance(key, str) for key in keys) and len({*keys}) == len(keys) == len(parts)
            return named and len(parts) > 0 and all(_is_space(part, depth + 1) for part in parts)
        case {"kind": "Tuple", "parts": list() as parts}:
            return len(parts) > 0 and all(_is_space(part, depth + 1) for part in parts)
    return False


def _is_dtype(name: Any, kinds: str) -> bool:
    try:
        return isinstance(name, str) and np.dtype(name).kind in kinds
    except TypeError:
        return False


def _holds(name: str, low: NDArray[Any], high: NDArray[Any]) -> bool:
    """Return whether bounds are numbers of a type, and leave something between them."""
    dtype = np.dtype(name)
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return not np.isposinf(low.astype(dtype)).any() and not np.isneginf(high.astype(dtype)).any()
    if "f" in (low.dtype.kind, high.dtype.kind):
        return False
    limits = np.iinfo(np.int8 if dtype.kind == "b" else dtype)
    return bool(limits.min <= low.min() and high.max() <= limits.max)


def _fits(space: dict[str, Any], lowest: Any, highest: Any) -> bool:
    """Return whether the values of a Discrete or MultiDiscrete space lie within its type."""
    limits = np.iinfo(space.get("dtype", "int64"))
    return bool(limits.min <= int(lowest) and int(highest) <= limits.max)


SECTIONS = Kind(
    "a mapping of sections of settings",
    lambda value: (
        isinstance(value, dict)
        and all(isinstance(part, str if key == "preset" else dict) and is_plain(part) for key, part in value.items())
    ),
)
WIDTHS = Kind(
    "a list of widths", lambda value: isinstance(value, list) and all(is_count(item) and item > 0 for item in value)
)
SPACE = Kind("a description of a space", _is_space)
NAMED_SPACES = Kind("a description of spaces by name", lambda value: _is_space(value) and value["kind"] == "Dict")
NAMES = Kind("a list of names", lambda value: isinstance(value, list) and all(isinstance(name, str) for name in value))
YES_OR_NO = Kind("true or false", lambda value: isinstance(value, bool))
VECTOR = Kind("a vector of finite numbers", lambda value: _is_finite(value, "float32", axes=1) and len(value) > 0)
DOUBLES = Kind("a vector of finite numbers", lambda value: _is_finite(value, "float64", axes=1))
SQUARES = Kind(
    "a vector of finite numbers, none below 0", lambda value: VECTOR.holds(value) and bool((value >= 0).all())
)
FLAGS = Kind("a vector of flags", lambda value: _is_array(value, "bool", axes=1))
ANYTHING = Kind("there", lambda value: True)

AGENT: dict[str, Kind] = {
    "experiment": SECTIONS,
    "experiment.env": SETTINGS,
    "experiment.env.env": TEXT,
    "policy": MAPPING,
    "policy.config": SETTINGS,
    "policy.config.hidden": WIDTHS,
    "policy.config.activation": TEXT,
    "policy.config.trunk": TEXT,
    "policy.observation_space": SPACE,
    "policy.action_space": SPACE,
    "state": MAPPING,
    "state.weights": VECTOR,
}
"""What an agent plays with."""
NEWER: dict[str, Kind] = {
    "policy.config.recurrent_size": COUNT,
    "policy.config.continuous_actions": TEXT,
    "policy.config.log_std_init": NUMBER,
    "policy.config.encoder": TEXT,
    "policy.config.normalise_observations": YES_OR_NO,
    "policy.config.critic_extras": NAMES,
    "policy.extras_space": NAMED_SPACES,
    "state.reward_scale": MAPPING,
    "state.reward_scale.moments": Kind(
        "three finite numbers", lambda value: _is_finite(value, "float64") and value.shape == (3,)
    ),
    "state.reward_scale.discounted": Kind(
        "a vector of finite numbers", lambda value: _is_finite(value, "float64", axes=1)
    ),
}
"""What the first checkpoints did not have."""
RUN: dict[str, Kind] = {
    **AGENT,
    "seconds": SECONDS,
    "experiment.env.envs": COUNT,
    "state.format": COUNT,
    "state.algorithm": TEXT,
    "state.steps": COUNT,
    "state.updates": COUNT,
    "state.collector": MAPPING,
    "state.collector.envs": ANYTHING,
}
"""What else a run continues from, whoever trained it."""
KEPT: dict[str, dict[str, Kind]] = {
    "adam": {
        "state.adam": MAPPING,
        "state.adam.first": VECTOR,
        "state.adam.second": SQUARES,
        "state.adam.steps": COUNT,
    },
    "episodes": {"state.recent_returns": NUMBERS, "state.recent_lengths": COUNTS},
}
"""What learners may keep besides, see `garrison.learn.registry.Learner`."""
OTHERS: dict[str, Kind] = {
    "state.others": Kind(
        "a list of the states of other agents",
        lambda value: isinstance(value, list) and all(isinstance(item, dict) for item in value),
    ),
}
"""What a run of several agents adds."""
CALLBACKS: dict[str, Kind] = {
    "state.callbacks": MAPPING,
    "state.callbacks.red": TEXT,
    "state.callbacks.states": Kind(
        "plain values by the names of callbacks",
        lambda value: (
            isinstance(value, dict) and all(isinstance(part, dict) and is_plain(part) for part in value.values())
        ),
    ),
}
"""What callbacks add."""
OF_ALL = ("format", "algorithm", "steps", "updates")
"""What a state says once for several agents that were trained together."""
COLLECTOR: dict[str, Kind] = {
    "state.collector.seen": Kind("an array", lambda value: isinstance(value, np.ndarray) and value.ndim > 0),
    "state.collector.masks": Kind("a table of flags", lambda value: _is_array(value, "bool", axes=2)),
    "state.collector.starts": FLAGS,
    "state.collector.resetting": FLAGS,
    "state.collector.returns": DOUBLES,
    "state.collector.lengths": Kind("a vector of whole numbers", lambda value: _is_array(value, "int64", axes=1)),
    "state.collector.streams": Kind(
        "an array of whole numbers", lambda value: _is_array(value, "int64") and value.ndim > 0
    ),
    "state.collector.memory": Kind("an array of finite numbers", lambda value: _is_finite(value, "float32", axes=3)),
}
"""What a collector in the learner's own process adds."""
NO_AGENT = "it holds no agent"
CAGE2_AGENT = {f"experiment.env.{key}": TEXT for key in ("rules", "challenge_encoder", "observation", "actions")}
"""How an agent of CAGE-2 sees the game."""
WORKFLOW_AGENT: dict[str, Kind] = {**CAGE2_AGENT, "experiment.workflow.orders": COUNTS}
"""What an agent that follows workflows has besides."""
WORKFLOW_RUN: dict[str, Kind] = {
    "inherited": TEXT,
    "state.workflow": MAPPING,
    "state.workflow.episodes": COUNT,
    "state.workflow.updates": COUNT,
    "state.workflow.stopper": MAPPING,
    "state.workflow.stopper.best": NUMBER,
    "state.workflow.stopper.waited": COUNT,
}
"""What a training on workflows adds."""


def require_agent(values: Any, name: str, also: Mapping[str, Kind] | None = None) -> None:
    """Raise a UserError that names the place if these are not the values of one agent; `name` is the file's.

    `also` is what this kind of agent needs besides. Settings get the names that they have now.
    """
    _require_agent(values, name, also)
    if others := values["state"].get("others"):
        raise UserError(
            f"{name} holds {len(others) + 1} agents, one for each seed.",
            hint=f"Name the folder of one of them: {name}/seed-...",
        )


def _require_agent(values: Any, name: str, also: Mapping[str, Kind] | None = None) -> None:
    if isinstance(values, dict) and "experiment" in values:
        values["experiment"] = with_present_names(values["experiment"])
    _check(values, AGENT | dict(also or {}), name, NO_AGENT)
    _check(values, present(values, NEWER), name)
    if "workflow" in values["experiment"]:
        _check(values, WORKFLOW_AGENT, name, NO_AGENT)
    _check_sizes(values["policy"], len(values["state"]["weights"]), name)


def require_run(values: Any, name: str, kept_by: Mapping[str, tuple[str, ...]]) -> None:
    """Raise a UserError that names the place if these are not the values of a run that can be continued.

    `kept_by` says which of `KEPT` each learner keeps. What several agents hold is checked as that of each.
    """
    _require_agent(values, name)
    _check(values, RUN, name)
    _check(values, present(values, OTHERS), name)
    for agent in agents_of(values["state"])[1:]:
        require_run({**values, "state": agent}, name, kept_by)
    state = values["state"]
    kept = kept_by.get(state["algorithm"], ())
    for part in kept:
        _check(values, KEPT[part], name)
    if "adam" in kept:
        moments = {f"state.adam.{key}": state["adam"][key] for key in ("first", "second")}
        _check_equal({"state.weights": state["weights"], **moments}, name)
    if "callbacks" in state:
        _check(values, CALLBACKS, name)
    if "workflow" in values["experiment"]:
        _check(values, WORKFLOW_RUN, name)
    if set(state["collector"]) != {"envs"}:  # actors keep what they collect to themselves
        _check(values, COLLECTOR, name)
        by_env = ("streams", "seen", "starts", "resetting", "returns", "lengths")
        _check_equal({f"state.collector.{key}": state["collector"][key] for key in by_env}, name)


def agents_of(state: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the states of all agents that were trained together, each as that of a training of its own."""
    first = {name: part for name, part in state.items() if name != "others"}
    common = {name: state[name] for name in OF_ALL}
    return [first, *({**other, **common} for other in state.get("others", ()))]


def _check(values: Any, table: dict[str, Kind], name: str, lack: str = "a run cannot go on from it") -> None:
    try:
        check(values, table)
    except Missing as place:
        raise UserError(f"{name} is a checkpoint without {str(place)!r}: {lack}.") from None
    except Wrong as wrong:
        raise UserError(f"{name} is not a usable checkpoint: {wrong}. Use another copy.") from None


def _check_equal(vectors: dict[str, Any], name: str) -> None:
    """Refuse arrays that should have as many rows as the first and do not."""
    (first, wanted), *others = vectors.items()
    for path, value in others:
        if len(value) != len(wanted):
            raise UserError(
                f"{name} is not a usable checkpoint: its {path} has {len(value):,} rows, and its {first} "
                f"has {len(wanted):,}. Use another copy."
            )


def _check_sizes(policy: dict[str, Any], weights: int, name: str) -> None:
    """Refuse a network with more of anything than it has weights, before memory is taken for it."""
    spaces = [_size(policy[f"{what}_space"]) for what in ("observation", "action")]
    if max(*spaces, *policy["config"]["hidden"], policy["config"].get("recurrent_size") or 0) > weights:
        raise UserError(
            f"{name} is not a usable checkpoint: its policy describes a larger network than its {weights:,} weights "
            "are for. Use another copy."
        )


def _size(space: dict[str, Any]) -> int:
    """Return how many numbers a network reads or gives for a space that does not itself hold as many."""
    match space["kind"]:
        case "Box":
            return 0
        case "Discrete":
            return int(space["n"])
        case "MultiDiscrete":
            return sum(int(n) for n in space["nvec"].reshape(-1))
        case "Dict" | "Tuple":
            return sum(map(_size, space["parts"]))
    return prod(space["shape"])
