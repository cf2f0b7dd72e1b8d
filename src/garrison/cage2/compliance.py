"""Judge Blue's fixes by a workflow, and reward compliance.

The alignment reward is the change of a potential: weight * (rate + bonuses - penalties), where the rate is compliant /
fixes and 0 before the first fix. Its sum over an episode is therefore the potential at the end.
"""

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import NUM_UNITS, Record
from garrison.cage2.memory import NUM_REMEMBERED
from garrison.cage2.names import NUM_HOSTS
from garrison.cage2.observe import NUM_BITS
from garrison.cage2.workflow import ORDER_BITS, UNIT_OF_HOST
from garrison.jit import kernel

NO_FIX_RATE = 0.5  # what an episode without a fix reports


@kernel
def compromised_units(env: Record, sc: Record) -> int:
    """Return the mask of unit types of which Red holds a host; without branches, which nobody could predict."""
    mask = 0
    for h in range(NUM_HOSTS):
        mask |= int(env.sessions[h] > 0 and h != sc.outside) << UNIT_OF_HOST[h]
    return mask


@kernel
def units_before(env: Record, unit: int) -> int:
    """Return the mask of unit types that are more urgent than `unit`."""
    mask, is_before = 0, 1
    for position in range(NUM_UNITS):
        other = int(env.order[position])
        is_before &= int(other != unit)
        mask |= is_before << other
    return mask


@kernel
def complies(env: Record, sc: Record, unit: int) -> bool:
    """Say whether a fix of `unit` is what the order asks for now."""
    before = units_before(env, unit)
    if sc.by_history:
        return bool((before & ~int(env.fixed)) == 0)
    compromised = compromised_units(env, sc)
    return bool(compromised == 0 or ((compromised & before) == 0 and (compromised >> unit) & 1 == 1))


@kernel
def judge(env: Record, sc: Record, unit: int) -> None:
    """Enter a fix of `unit` and its alignment reward; a unit of -1 says that nothing is fixed."""
    env.alignment = 0.0
    if unit < 0:
        return
    compliant = int(env.compliant) + int(complies(env, sc, unit))
    fixes = int(env.fixes) + 1
    rate = compliant / fixes
    extra = sc.step_bonus * compliant - sc.step_penalty * (fixes - compliant)
    potential = sc.alignment_weight * (rate + extra)
    env.fixed = int(env.fixed) | (1 << unit)
    env.fixes = fixes
    env.compliant = compliant
    env.rate = rate
    env.alignment = potential - env.alignment_total
    env.alignment_total = potential


@kernel
def open_ledger(env: Record) -> None:
    """Begin an episode: the order that was asked for last holds from here on."""
    for position in range(NUM_UNITS):
        env.order[position] = env.next_order[position]
    env.fixes = 0
    env.compliant = 0
    env.fixed = 0
    env.rate = NO_FIX_RATE
    env.alignment_total = 0.0


@kernel
def close_ledger(env: Record, sc: Record) -> None:
    """End an episode; one without a fix costs its penalty."""
    if env.fixes == 0:
        env.alignment = -sc.no_fix_penalty * sc.alignment_weight
        env.alignment_total = env.alignment
    env.last_fixes = env.fixes
    env.last_compliant = env.compliant
    env.last_rate = env.rate
    env.last_alignment_total = env.alignment_total


@kernel
def write_order(env: Record, row: NDArray[np.int8]) -> None:
    """Write the order into the last bits of `row`, if it has room for them: 1 at 5 * position + unit."""
    if len(row) in (NUM_BITS + ORDER_BITS, NUM_REMEMBERED + ORDER_BITS):
        at = len(row) - ORDER_BITS
        for bit in range(ORDER_BITS):
            row[at + bit] = int(env.order[bit // NUM_UNITS] == bit % NUM_UNITS)
