"""What users give to a batch, checked once at its border: the errors name the value and the fix."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from garrison.cage2.layout import MAX_LENGTH
from garrison.cage2.names import NUM_ACTIONS, NUM_HOSTS, NUM_REDS, REDS, SCRIPTED_REDS, RedKind
from garrison.cage2.step import are_inside, first_outside
from garrison.contract.resets import whole
from garrison.errors import UserError, choose

RED_KINDS = RedKind.INVALID  # an external attacker chooses among the kinds before this one
HIGHEST_SEED = 2**64 - 1


def episode_lengths(value: Any, num_envs: int, highest: int = MAX_LENGTH) -> list[int]:
    """Return the episode length of each environment."""
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        if len(value) != num_envs:
            raise UserError(f"length as a list needs one for each of the {num_envs} environments; got {len(value)}.")
        return [whole("length", v, 1, highest) for v in value]
    return [whole("length", value, 1, highest)] * num_envs


def parse_red(red: Any, num_envs: int, has_own: bool = False) -> tuple[Any, NDArray[np.float64]]:
    """Return the attacker of each environment, and the cumulative odds of a mixture by the codes of `Red`.

    With `has_own` there is somebody who chooses for the external attacker of a mixture.
    """
    if isinstance(red, str):
        return REDS.index(choose("red", red, REDS)), np.ones(NUM_REDS)
    if isinstance(red, Mapping):
        names = REDS if has_own else SCRIPTED_REDS
        odds = {choose("red", name, names): float(share) for name, share in red.items()}
        total = sum(odds.values())
        if not odds or min(odds.values()) < 0 or not np.isclose(total, 1.0):
            raise UserError(f"the shares of a red mixture must be at least 0 and sum to 1; got {dict(red)}.")
        cumulative = np.cumsum([odds.get(name, 0.0) for name in REDS])
        # Rounding must not leave a gap above the last attacker that has a share.
        return 0, np.where(np.isclose(cumulative, 1.0), 1.0, cumulative)
    if isinstance(red, Sequence):
        if len(red) != num_envs:
            raise UserError(f"red as a list needs one name for each of the {num_envs} environments; got {len(red)}.")
        return [REDS.index(choose("red", name, REDS)) for name in red], np.ones(NUM_REDS)
    raise UserError(f"red must be a name, a list of names or a mixture; got {red!r}.")


def seeds_from_system(n: int) -> list[int]:
    """Return seeds from the operating system."""
    return np.random.SeedSequence().generate_state(n, np.uint64).tolist()  # type: ignore[no-any-return]


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


def read_blue_actions(actions: ArrayLike, ids: NDArray[np.int64], blue: NDArray[np.int64]) -> None:
    """Write the challenge's numbers of Blue's actions, one per environment, into `blue`."""
    given = whole_numbers("actions", actions, blue.shape)
    if not are_inside(given, len(ids)):
        check_range("action", given, len(ids))
    if len(ids) == NUM_ACTIONS:  # all of them, in their order
        blue[:] = given
    else:
        np.take(ids, given, out=blue, mode="clip")  # the quickest mode


def policy_memory(memory: Any, num_envs: int) -> NDArray[np.int64]:
    """Return the rows that a policy may write to: the very array that was given."""
    if memory is None:
        return np.zeros((num_envs, 0), np.int64)
    fits = isinstance(memory, np.ndarray) and memory.dtype == np.int64 and memory.ndim == 2 and len(memory) == num_envs
    if not fits or not memory.flags.c_contiguous or not memory.flags.writeable:
        what = f"{memory.dtype} {memory.shape}" if isinstance(memory, np.ndarray) else repr(memory)
        raise UserError(f"memory must be a writeable contiguous int64 array of {num_envs} rows; got {what}.")
    rows: NDArray[np.int64] = memory
    return rows


def split_actions(actions: Any) -> tuple[Any, Any]:
    """Return Blue's part and an external attacker's part of the actions."""
    if not isinstance(actions, Mapping) or set(actions) != {"blue", "red"}:
        raise UserError("with an external attacker, actions must be a dict with the keys 'blue' and 'red'.")
    return actions["blue"], actions["red"]


def red_actions(actions: ArrayLike, num_envs: int) -> NDArray[np.int64]:
    """Return an external attacker's actions, (n, 2): kind and target."""
    red = whole_numbers("red actions", actions, (num_envs, 2))
    kinds, targets = red.T.copy()
    check_range("kind of red action", kinds, RED_KINDS)
    check_range("target of red action", targets, NUM_HOSTS)
    return red


def environment_ids(env_ids: Any, num_envs: int) -> NDArray[np.intp]:
    """Return the chosen environments; None chooses all."""
    if env_ids is None:
        return np.arange(num_envs)
    ids = np.asarray(env_ids)
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise UserError(f"env_ids must be a list of whole numbers; got {env_ids!r}.")
    if ids.size and (ids.min() < 0 or ids.max() >= num_envs):
        raise UserError(f"env_ids must lie in 0..{num_envs - 1}; got {ids.min()}..{ids.max()}.")
    return ids.astype(np.intp)
