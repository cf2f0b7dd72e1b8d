"""Priority orders of the five unit types: their names and forms, and how far two of them are apart.

An order is a tuple of the five units, the most urgent first. Orders are numbered 0 to 119 as `itertools.permutations`
produces them from `UNITS`.

>>> ORDERS[0]
('defender', 'enterprise', 'op_server', 'op_host', 'user')
>>> label(parse_order("critical_first"))
'defender → op_server → enterprise → op_host → user'
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from itertools import combinations, permutations
from math import comb

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.workflow import UNITS as UNITS
from garrison.errors import UserError

Order = tuple[str, ...]

ARROW = " → "
ALL = "all"
LONG = 20  # digits: no number of an order, and Python reads only so many
NUM_UNITS = len(UNITS)
PAIRS = comb(NUM_UNITS, 2)  # the most pairs that two orders can disagree about
FARTHEST = NUM_UNITS**2 // 2  # the largest sum of moved places: an order and its reverse
ORDERS: tuple[Order, ...] = tuple(permutations(UNITS))
CANONICAL: dict[str, Order] = {
    "critical_first": ("defender", "op_server", "enterprise", "op_host", "user"),
    "enterprise_focus": ("enterprise", "defender", "op_server", "op_host", "user"),
    "user_priority": ("user", "defender", "enterprise", "op_server", "op_host"),
    "operational_focus": ("op_server", "op_host", "defender", "enterprise", "user"),
    "balanced": ("defender", "enterprise", "op_server", "user", "op_host"),
    "reverse": ("user", "op_host", "enterprise", "op_server", "defender"),
}
"""The orders that have names of their own."""

_INDEX = {order: index for index, order in enumerate(ORDERS)}

NAMES: dict[int, str] = {_INDEX[order]: name for name, order in CANONICAL.items()}
"""The same by number."""


def index_of(order: Sequence[str]) -> int:
    """Return the number of an order.

    >>> index_of(CANONICAL["reverse"])
    117
    """
    try:
        return _INDEX[tuple(order)]
    except (KeyError, TypeError):
        raise UserError(f"an order names each of {', '.join(UNITS)} once; got {', '.join(map(str, order))}.") from None


def label(order: Sequence[str] | int) -> str:
    """Return an order, or that of a number, as text."""
    return ARROW.join(ORDERS[order] if isinstance(order, int) else order)


def name_of(index: int) -> str:
    """Return the canonical name of an order if it has one, else its text."""
    return NAMES.get(index, label(index))


def parse_order(text: str | int) -> Order:
    """Read an order: its number, its canonical name, or the units with commas, arrows or `>` between them.

    >>> parse_order("3") == parse_order("defender > enterprise > op_host > user > op_server") == ORDERS[3]
    True
    """
    words = str(text).strip()
    if words in CANONICAL:
        return CANONICAL[words]
    if re.fullmatch("-?[0-9]+", words):
        if len(words) > LONG or not 0 <= int(words) < len(ORDERS):
            raise UserError(f"orders are numbered 0 to {len(ORDERS) - 1}; got {words[:LONG]}.")
        return ORDERS[int(words)]
    units = [unit.strip() for unit in words.replace("→", ",").replace("->", ",").replace(">", ",").split(",")]
    if len(units) == 1:
        near = get_close_matches(words, CANONICAL, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(CANONICAL)}."
        raise UserError(f"no order {words!r}; {hint} An order is also a number from 0 to 119, or five units.")
    for unit in units:
        if unit not in UNITS:
            near = get_close_matches(unit, UNITS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the units are {', '.join(UNITS)}."
            raise UserError(f"no unit {unit!r} in the order {words!r}; {hint}")
    return ORDERS[index_of(units)]


def parse_orders(texts: Sequence[str]) -> list[int]:
    """Read several orders, or `all`; return their numbers, each once, in the order given."""
    if list(texts) == [ALL]:
        return list(range(len(ORDERS)))
    if ALL in texts:
        raise UserError(f"{ALL!r} stands for every order; leave out the others.")
    return list(dict.fromkeys(index_of(parse_order(text)) for text in texts))


def one_hot(order: Sequence[str]) -> NDArray[np.int8]:
    """Return the 25 bits that a network is shown: bit 5 * place + unit is set.

    >>> one_hot(ORDERS[0]).reshape(5, 5).tolist() == np.eye(5).tolist()
    True
    """
    bits = np.zeros((NUM_UNITS, NUM_UNITS), np.int8)
    bits[np.arange(NUM_UNITS), [UNITS.index(unit) for unit in order]] = 1
    return bits.reshape(-1)


def from_one_hot(bits: NDArray[np.generic]) -> Order:
    """Return the order that `one_hot` turned into bits."""
    return tuple(UNITS[k] for k in np.reshape(bits, (NUM_UNITS, NUM_UNITS)).argmax(axis=1))


def ranks(order: Sequence[str]) -> NDArray[np.int64]:
    """Return the place of each unit, in the sequence of `UNITS`: 0 is the most urgent.

    >>> ranks(CANONICAL["critical_first"]).tolist()
    [0, 2, 1, 3, 4]
    """
    return np.array([list(order).index(unit) for unit in UNITS], np.int64)


def from_ranks(places: Sequence[int] | NDArray[np.integer]) -> Order:
    """Return the order in which each unit has its place."""
    return tuple(UNITS[k] for k in np.argsort(places))


def kendall(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the share of the ten pairs of units that two orders rank differently.

    >>> kendall(ORDERS[0], ORDERS[1]), kendall(ORDERS[0], ORDERS[119])
    (0.1, 1.0)
    """
    a, b = ranks(first).tolist(), ranks(second).tolist()
    pairs = combinations(range(NUM_UNITS), 2)
    return len([1 for i, j in pairs if (a[i] < a[j]) != (b[i] < b[j])]) / PAIRS


def spearman(first: Sequence[str], second: Sequence[str]) -> float:
    """Return Spearman's footrule: how far the units moved in all, as a share of the farthest possible.

    >>> round(spearman(ORDERS[0], ORDERS[1]), 3), spearman(ORDERS[0], ORDERS[119])
    (0.167, 1.0)
    """
    return int(np.abs(ranks(first) - ranks(second)).sum()) / FARTHEST


@cache
def kendall_matrix() -> NDArray[np.float64]:
    """Return the Kendall distances between all orders, (120, 120); shared, so not to be written to."""
    places = np.array([ranks(order) for order in ORDERS])
    before = np.array([places[:, i] < places[:, j] for i, j in combinations(range(NUM_UNITS), 2)])
    distances: NDArray[np.float64] = (before[:, :, None] != before[:, None, :]).sum(axis=0) / PAIRS
    distances.flags.writeable = False
    return distances


@cache
def spearman_matrix() -> NDArray[np.float64]:
    """Return Spearman's footrule between all orders, (120, 120); shared, so not to be written to."""
    places = np.array([ranks(order) for order in ORDERS])
    distances: NDArray[np.float64] = np.abs(places[:, None, :] - places[None, :, :]).sum(axis=2) / FARTHEST
    distances.flags.writeable = False
    return distances
