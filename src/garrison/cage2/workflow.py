"""Workflows: in which order kinds of hosts are to be fixed, and what following it is worth.

A workflow is an order of the five unit types, the most urgent first. A *fix* is a Remove or a Restore; it *complies*
when it goes to the unit type whose turn it is. `garrison.cage2.compliance` judges every fix inside the step, by the
true state before it; `docs/workflow.md` has the definitions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import isfinite
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import NUM_UNITS
from garrison.cage2.names import ACTIONS, HOSTS, BlueKind
from garrison.errors import UserError, choose

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]

UNITS = ("defender", "enterprise", "op_server", "op_host", "user")
"""The unit types; a host belongs to the one that its name begins with."""
UNIT_OF_HOST = np.array([next(u for u, name in enumerate(UNITS) if name in host.lower()) for host in HOSTS])
"""(13,) the unit type of each host"""
HOSTS_OF_UNIT = np.array([sum(1 << h for h in np.flatnonzero(u == UNIT_OF_HOST).tolist()) for u in range(NUM_UNITS)])
"""(5,) the mask of the hosts of each unit type"""
ORDERS = np.array(list(permutations(range(NUM_UNITS))), np.int8)
"""(120, 5) every order; an order's index is its row"""
ORDER_BITS = NUM_UNITS * NUM_UNITS
DEFINITIONS = ("state", "history")
FOOTHOLDS = ("ignore", "count")

_DIGITS = NUM_UNITS ** np.arange(NUM_UNITS)
_INDEX_OF_KEY = {int(order @ _DIGITS): i for i, order in enumerate(ORDERS.astype(np.int64))}


@dataclass(frozen=True)
class Workflow:
    """Which orders the environments of a batch follow, what complies, and what that is worth.

    Raises:
        UserError: naming the setting and what it must be.
    """

    orders: Any = 0
    """An index 0..119 into `ORDERS`; a list of these, one for each environment; or an (n, 5) array of unit numbers, the
    most urgent first. Kept as indices."""
    definition: str = "state"
    """`state`: a fix complies if nothing is compromised, or if its target's type is the first compromised one in the
    order. `history`: it complies if every more urgent type was the target of a fix before, in this episode."""
    foothold: str = "ignore"
    """`ignore`: the host of Red's permanent session never counts as compromised, and Remove or Restore there is no fix.
    `count`: both count, so that the user type is compromised at all times."""
    weight: float = 30.0
    """Lambda: what full compliance over an episode is worth."""
    step_bonus: float = 0.0
    """Times the weight, for each fix that complies."""
    step_penalty: float = 0.0
    """Times the weight, taken for each fix that does not."""
    no_fix_penalty: float = 0.2
    """Times the weight, taken at the end of an episode without a fix."""
    show_order: bool = True
    """Append the order to the observation: 25 bits, bit 5 * position + unit."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "orders", _indices(self.orders))
        choose("definition", self.definition, DEFINITIONS)
        choose("foothold", self.foothold, FOOTHOLDS)
        for name in ("weight", "step_bonus", "step_penalty", "no_fix_penalty"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not isfinite(value):
                raise UserError(f"{name} must be a finite number; got {value!r}.")
            if value < 0:
                raise UserError(f"{name} must not be negative; got {value}.")
            object.__setattr__(self, name, float(value))


def order_table(orders: Any, num_envs: int) -> NDArray[np.int8]:
    """Return (n, 5): the order of each environment, from any form that `Workflow.orders` takes."""
    indices = _indices(orders)
    if isinstance(indices, int):
        return np.tile(ORDERS[indices], (num_envs, 1))
    if len(indices) != num_envs:
        raise UserError(f"orders need one for each of the {num_envs} environments; got {len(indices)}.")
    return ORDERS[list(indices)]


def _indices(orders: Any) -> int | tuple[int, ...]:
    """Return an order's index, or the index of each environment's order."""
    if not isinstance(orders, Sequence | np.ndarray | int | np.integer) or isinstance(orders, str | bool):
        raise UserError(f"orders must be an index, a list of indices or an (n, 5) array; got {orders!r}.")
    try:
        array = np.asarray(orders)
    except ValueError:  # rows of different lengths
        array = np.zeros((0, 0, 0), np.int64)
    if array.dtype.kind not in "iu" or array.size == 0 or array.ndim > 2 or array.shape[1:] not in ((), (NUM_UNITS,)):
        raise UserError(
            f"orders must be an index, a list of indices or an (n, 5) array of unit numbers; got {orders!r}."
        )
    if array.ndim < 2:
        if array.min() < 0 or array.max() >= len(ORDERS):
            raise UserError(f"the index of an order must lie in 0..{len(ORDERS) - 1}; got {orders!r}.")
        return int(array) if array.ndim == 0 else tuple(array.tolist())
    rows = array.astype(np.int64)
    wrong = np.flatnonzero((np.sort(rows, axis=1) != np.arange(NUM_UNITS)).any(axis=1))
    if len(wrong):
        raise UserError(f"an order must have each of the units 0..4 once; row {wrong[0]} is {rows[wrong[0]].tolist()}.")
    return tuple(_INDEX_OF_KEY[key] for key in (rows @ _DIGITS).tolist())


@dataclass(frozen=True, slots=True)
class Compliance:
    """How a batch follows its workflow: read-only arrays that follow the batch, free to read.

    The first axis is the environment. What belongs to the last episode is 0 until one has ended since `reset`.
    """

    settings: Workflow
    """What the batch was made with; its `orders` are those of the beginning"""
    orders: Ints
    """(n, 5) the order of the running episode, the most urgent unit first"""
    next_orders: Ints
    """(n, 5) the order from the next reset on"""
    env_rewards: Floats
    """(n,) the environment's part of the last step's reward"""
    alignment_rewards: Floats
    """(n,) the alignment's part"""
    fixes: Ints
    """(n,) fixes so far in this episode"""
    compliant: Ints
    """(n,) how many of these complied"""
    rates: Floats
    """(n,) compliant / fixes; 0.5 before the first fix"""
    env_returns: Floats
    """(n,) sum of the environment's rewards so far"""
    alignment_returns: Floats
    """(n,) sum of the alignment rewards so far"""
    last_fixes: Ints
    """(n,) of the episode that ended last: its fixes"""
    last_compliant: Ints
    """(n,) how many of these complied"""
    last_rate: Floats
    """(n,) its compliance; 0.5 if there was no fix"""
    last_env_return: Floats
    """(n,) the sum of its environment's rewards"""
    last_alignment_return: Floats
    """(n,) the sum of its alignment rewards"""

    @classmethod
    def of(cls, settings: Workflow, envs: NDArray[np.void]) -> Self:
        """Return the views over `envs`."""
        views = {name: envs[_FIELDS.get(name, name)].view() for name in cls.__slots__ if name != "settings"}
        for view in views.values():
            view.flags.writeable = False
        return cls(settings, **views)

    def infos(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the numbers of the episodes that just ended, in the form of Gymnasium's infos."""
        infos: dict[str, Any] = {}
        for name in ("env_return", "alignment_return", "fixes", "compliant", "rate"):
            values = getattr(self, f"last_{name}")
            infos[name] = np.where(ended, values, 0).astype(np.int64 if values.dtype.kind == "i" else np.float64)
            infos[f"_{name}"] = ended
        return infos


_FIELDS = {
    "orders": "order",
    "next_orders": "next_order",
    "env_rewards": "env_reward",
    "alignment_rewards": "alignment",
    "rates": "rate",
    "env_returns": "total",
    "alignment_returns": "alignment_total",
    "last_env_return": "last_total",
    "last_alignment_return": "last_alignment_total",
}


def apply_workflow(workflow: Workflow, envs: NDArray[np.void], scenario: NDArray[np.void]) -> None:
    """Write a workflow into the records that the kernels read."""
    envs["order"] = envs["next_order"] = order_table(workflow.orders, len(envs))
    scenario["has_workflow"] = 1
    scenario["shows_order"] = workflow.show_order
    scenario["by_history"] = workflow.definition == "history"
    outside = int(scenario["foothold"][0]) if workflow.foothold == "ignore" else -1
    scenario["inside"] = sum(1 << h for h in range(len(HOSTS)) if h != outside)
    fixes = (BlueKind.REMOVE, BlueKind.RESTORE)
    scenario["fix_unit"] = [UNIT_OF_HOST[a.host] if a.kind in fixes and a.host != outside else -1 for a in ACTIONS]
    scenario["alignment_weight"] = workflow.weight
    scenario["step_bonus"] = workflow.step_bonus
    scenario["step_penalty"] = workflow.step_penalty
    scenario["no_fix_penalty"] = workflow.no_fix_penalty
