"""The arguments that every batch of environments takes, checked once: seeds, reset masks, autoreset modes."""

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from garrison.contract.misuse import WrongType
from garrison.errors import UserError, choose


def whole(what: str, value: Any, low: int, high: int | None = None) -> int:
    """Return `value` as an int, if it is a whole number from `low` to `high`."""
    try:
        number = index(value)
    except TypeError:
        raise UserError(f"{what} must be a whole number; got {value!r}.") from None
    if high is None and number < low:
        raise UserError(f"{what} must be at least {low}; got {number}.")
    if high is not None and not low <= number <= high:
        raise UserError(f"{what} must lie between {low} and {high}; got {number}.")
    return number


def spread_seed(seed: Any, num_envs: int, highest: int | None = None) -> list[int | None]:
    """Return the seed of each environment: s becomes s, s + 1, ...; None leaves a random stream as it is.

    Args:
        seed: a whole number, a list with a number or None for each environment, or None.
        num_envs: how many environments.
        highest: the largest seed that an environment takes, if there is one.
    """
    if seed is None:
        return [None] * num_envs
    if isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str):
        if len(seed) != num_envs:
            raise UserError(f"a list of seeds must have one per environment, {num_envs}; got {len(seed)}.")
        return [None if s is None else whole("seed", s, 0, highest) for s in seed]
    first = whole("seed", seed, 0, None if highest is None else highest - num_envs + 1)
    return [first + i for i in range(num_envs)]


def reset_mask(options: Mapping[str, Any] | None, num_envs: int) -> NDArray[np.bool_]:
    """Return which environments a reset concerns: those of `options["reset_mask"]`, all without it."""
    mask = (options or {}).get("reset_mask")
    if mask is None:
        return np.ones(num_envs, np.bool_)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (num_envs,):
        kind = UserError if getattr(mask, "dtype", None) == np.bool_ else WrongType
        raise kind(f"options['reset_mask'] must be a bool array of shape ({num_envs},); got {mask!r}.")
    if not mask.any():
        raise UserError("options['reset_mask'] must have at least one True.")
    return mask


def autoreset_mode(mode: Any) -> AutoresetMode:
    """Return Gymnasium's autoreset mode: from the enum, or spelled `SameStep` or `same_step`."""
    if isinstance(mode, AutoresetMode):
        return mode
    names = {m.value: m for m in AutoresetMode} | {m.name.lower(): m for m in AutoresetMode}
    text = str(mode)
    return names.get(text) or names.get(text.lower()) or names[choose("autoreset_mode", text, list(names))]
