"""Input at the border of the batch: checked once, with errors that name the value and the fix."""

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from garrison.cage2.layout import MAX_LENGTH
from garrison.cage2.names import REDS, Red
from garrison.cage2.step import first_outside
from garrison.errors import UserError, choose


def whole(what: str, value: Any, low: int, high: int) -> int:
    """Return `value` as an int, if it is a whole number from `low` to `high`."""
    try:
        number = index(value)
    except TypeError:
        raise UserError(f"{what} must be a whole number; got {value!r}.") from None
    if not low <= number <= high:
        raise UserError(f"{what} must lie between {low} and {high}; got {number}.")
    return number


def episode_lengths(value: Any, num_envs: int) -> list[int]:
    """Return the episode length of each environment."""
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        if len(value) != num_envs:
            raise UserError(f"length as a list needs one for each of the {num_envs} environments; got {len(value)}.")
        return [whole("length", v, 1, MAX_LENGTH) for v in value]
    return [whole("length", value, 1, MAX_LENGTH)] * num_envs


def parse_red(red: Any, num_envs: int) -> tuple[Any, list[float]]:
    """Return the attacker of each environment, and the cumulative odds of a mixture."""
    if isinstance(red, str):
        return REDS.index(choose("red", red, REDS)), [1.0, 1.0, 1.0]
    if isinstance(red, Mapping):
        odds = {choose("red", name, REDS[: Red.EXTERNAL]): float(share) for name, share in red.items()}
        total = sum(odds.values())
        if not odds or min(odds.values()) < 0 or not np.isclose(total, 1.0):
            raise UserError(f"the shares of a red mixture must be at least 0 and sum to 1; got {dict(red)}.")
        cumulative = np.cumsum([odds.get(name, 0.0) for name in REDS[: Red.EXTERNAL]])
        # Rounding must not leave a gap above the last attacker that has a share.
        return 0, np.where(np.isclose(cumulative, 1.0), 1.0, cumulative).tolist()
    if isinstance(red, Sequence):
        if len(red) != num_envs:
            raise UserError(f"red as a list needs one name for each of the {num_envs} environments; got {len(red)}.")
        return [REDS.index(choose("red", name, REDS)) for name in red], [1.0, 1.0, 1.0]
    raise UserError(f"red must be a name, a list of names or a mixture; got {red!r}.")


def entropy(n: int) -> list[int]:
    """Return seeds from the operating system."""
    return np.random.SeedSequence().generate_state(n, np.uint64).tolist()  # type: ignore[no-any-return]


def seed_list(seed: Any, num_envs: int) -> list[int | None]:
    """Return the seed of each environment: s means s+i, None leaves a stream as it is."""
    if seed is None:
        return [None] * num_envs
    if isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str):
        if len(seed) != num_envs:
            raise UserError(f"a list of seeds needs one for each of the {num_envs} environments; got {len(seed)}.")
        return [None if s is None else whole("seed", s, 0, 2**64 - 1) for s in seed]
    first = whole("seed", seed, 0, 2**64 - num_envs)
    return [first + i for i in range(num_envs)]


def reset_mask(options: dict[str, Any] | None, num_envs: int) -> NDArray[np.bool_]:
    """Return which environments a reset concerns."""
    mask = (options or {}).get("reset_mask")
    if mask is None:
        return np.ones(num_envs, np.bool_)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (num_envs,):
        raise UserError(f"options['reset_mask'] must be a bool array of shape ({num_envs},); got {mask!r}.")
    if not mask.any():
        raise UserError("options['reset_mask'] must have at least one True.")
    return mask


def whole_numbers(what: str, values: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return `values` as a contiguous int64 array, if they are whole numbers of this shape."""
    array = np.asarray(values)
    if array.shape != shape:
        raise UserError(f"{what} must have the shape {shape}; got {array.shape}.")
    if array.dtype.kind not in "iu":
        raise UserError(f"{what} must be whole numbers; got {array.dtype}: use .astype(int).")
    return np.ascontiguousarray(array, dtype=np.int64)


def check_range(what: str, values: NDArray[np.int64], high: int) -> None:
    """Raise if a value is not in 0..high-1."""
    bad = first_outside(values, 0, high)
    if bad >= 0:
        raise UserError(f"{what} {values[bad]} of environment {bad} is out of range: it must lie in 0..{high - 1}.")
