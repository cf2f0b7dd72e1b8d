"""How Blue's actions are chosen inside of the kernel: what `VectorEnv.rollout` takes as a policy."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from garrison.cage2.names import NUM_HOSTS
from garrison.cage2.observe import BITS_PER_HOST
from garrison.cage2.playing import CYCLE, FUNCTION, PLAN, REACTIONS
from garrison.errors import UserError
from garrison.jit import COMPILED

CODES = 1 << BITS_PER_HOST
"""Different things that Blue can see of a host"""
NO_REACTION = -1

Function = Callable[[NDArray[np.int8], int, NDArray[np.int64]], int]


@dataclass(frozen=True, eq=False)
class Cycle:
    """Actions by the step of an episode, and again from the first: every episode begins with the first row."""

    actions: ArrayLike
    """(period,) for all environments, or (period, n)"""


@dataclass(frozen=True, eq=False)
class Reactions:
    """An action for what Blue sees of a host, on the first host that has one.

    What Blue sees of a host are its four bits in the observation, read as a binary number whose lowest digit is the
    first: bits 0 and 1 are the activity, bits 2 and 3 how far it is believed compromised.
    """

    table: ArrayLike
    """(13, 16): for each host and code the action, -1 where there is none"""
    otherwise: int = 0
    """What is done where no host has one"""


Policy = Cycle | Reactions | Function | ArrayLike


class Chosen(NamedTuple):
    """A policy as the kernel takes it."""

    source: int
    table: NDArray[np.int64]
    function: Any


_NO_TABLE = np.zeros((0, 0), np.int64)


def read_policy(policy: Policy, steps: int | None, num_envs: int, num_actions: int) -> tuple[Chosen, int]:
    """Return a policy for a batch, checked, and how many steps it is played."""
    if isinstance(policy, Cycle | Reactions) or callable(policy):
        if steps is None:
            raise UserError("say how many steps: rollout(policy, steps); only a list of actions has a length itself.")
        if isinstance(policy, Cycle):
            return Chosen(CYCLE, _rows("the actions of a Cycle", policy.actions, num_envs, num_actions), 0), steps
        if isinstance(policy, Reactions):
            return Chosen(REACTIONS, _reactions(policy, num_actions), 0), steps
        return Chosen(FUNCTION, _NO_TABLE, machine_code(policy)), steps
    table = _rows("the actions of a rollout", policy, num_envs, num_actions)
    if steps is not None and steps != len(table):
        raise UserError(f"there are actions for {len(table)} steps, not {steps}: leave out steps, or use a Cycle.")
    return Chosen(PLAN, table, 0), len(table)


def _rows(what: str, actions: ArrayLike, num_envs: int, num_actions: int) -> NDArray[np.int64]:
    """Return actions as rows of one column, or of one for each environment."""
    array = np.asarray(actions)
    if array.ndim not in (1, 2) or not len(array) or (array.ndim == 2 and array.shape[1] != num_envs):
        raise UserError(f"{what} must have the shape (steps,) or (steps, {num_envs}); got {array.shape}.")
    return _numbers(what, array.reshape(len(array), -1), 0, num_actions)


def _reactions(policy: Reactions, num_actions: int) -> NDArray[np.int64]:
    table = np.asarray(policy.table)
    if table.shape != (NUM_HOSTS, CODES):
        raise UserError(f"the table of Reactions must have the shape {(NUM_HOSTS, CODES)}; got {table.shape}.")
    last = _numbers("otherwise of Reactions", np.full((1, CODES), policy.otherwise), 0, num_actions)
    return np.concatenate([_numbers("the table of Reactions", table, NO_REACTION, num_actions), last])


def _numbers(what: str, array: NDArray[Any], low: int, high: int) -> NDArray[np.int64]:
    if array.dtype.kind not in "iu":
        raise UserError(f"{what} must be whole numbers; got {array.dtype}: use .astype(int).")
    for number in (array.min(), array.max()):
        if not low <= number < high:
            raise UserError(f"{what} must lie in {low}..{high - 1}; got {number}.")
    return np.require(array, np.int64, ["C", "W"])  # of arrays that are read-only, Numba makes another kernel


def machine_code(policy: Any) -> Any:
    """Return the address of machine code that asks a compiled policy row by row, or in plain Python a function."""
    if not COMPILED:

        def ask(observations: Any, memory: Any, actions: Any, begin: int, end: int) -> None:
            for i in range(begin, end):
                if actions[i] >= 0:
                    actions[i] = policy(observations[i], int(actions[i]), memory[i])

        return ask
    from numba.core.dispatcher import Dispatcher

    if not isinstance(policy, Dispatcher):
        raise UserError("a policy that is a function must be compiled: put @numba.njit above it.")
    return _compile(policy).address


@cache  # machine code is never given back
def _compile(policy: Any) -> Any:
    from numba import carray, cfunc, types
    from numba.core.errors import NumbaError

    bits, words, size = types.CPointer(types.int8), types.CPointer(types.int64), types.intp

    def ask(obs: Any, width: int, memories: Any, kept: int, actions: Any, begin: int, end: int) -> None:
        observations, memory = carray(obs, (end, width)), carray(memories, (end, kept))
        for i in range(begin, end):
            if actions[i] >= 0:  # the step of the episode; where there is none, nobody asks
                actions[i] = policy(observations[i], actions[i], memory[i])

    try:
        return cfunc(types.void(bits, size, words, size, words, size, size))(ask)
    except NumbaError as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), "")
        raise UserError(
            f"the policy could not be compiled for (observation: int8 array, t: int, memory: int64 array): {reason}"
        ) from error
