"""Judge Blue's fixes by a workflow, and reward compliance.

The alignment reward is the change of a potential: weight * (rate + bonuses - penalties), where the rate is compliant /
fixes and 0 before the first fix. Its sum over an episode is therefore the potential at the end.
"""

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import NUM_UNITS, Record
from garrison.cage2.workflow import HOSTS_OF_UNIT, ORDER_BITS
from garrison.jit import kernel

NO_FIX_RATE = 0.5  # what an episode without a fix reports


@kernel
def more_urgent(env: Record, unit: int) -> int:
    """Return the mask of the hosts whose unit type comes before `unit` in the order."""
    hosts, is_before = 0, 1
    for position in range(NUM_UNITS):
        other = int(env.order[position])
        is_before &= int(other != unit)
        hosts |= is_before * HOSTS_OF_UNIT[other]
    return hosts


@kernel
def complies(env: Record, sc: Record, unit: int) -> bool:
    """Return whether a fix of `unit` is what the order asks for now."""
    urgent = more_urgent(env, unit)
    if sc.by_history:
        return bool((urgent & ~int(env.fixed)) == 0)
    held = int(env.held) & int(sc.inside)
    is_first = ((held & urgent) == 0) & ((held & HOSTS_OF_UNIT[unit]) != 0)
    return bool(is_first | (held == 0))


@kernel
def judge(env: Record, sc: Record, unit: int) -> float:
    """Count a fix of `unit` and return its alignment reward."""
    compliant = int(env.compliant) + int(complies(env, sc, unit))
    fixes = int(env.fixes) + 1
    rate = compliant / fixes
    extra = sc.step_bonus * compliant - sc.step_penalty * (fixes - compliant)
    potential = sc.alignment_weight * (rate + extra)
    reward = potential - env.alignment_total
    env.fixed = int(env.fixed) | HOSTS_OF_UNIT[unit]
    env.fixes = fixes
    env.compliant = compliant
    env.rate = rate
    env.alignment_total = potential
    return float(reward)


@kernel
def begin_compliance(env: Record) -> None:
    """Begin an episode: the order that was given last holds from here on."""
    for position in range(NUM_UNITS):
        env.order[position] = env.next_order[position]
    env.fixes = 0
    env.compliant = 0
    env.fixed = 0
    env.rate = NO_FIX_RATE
    env.alignment_total = 0.0


@kernel
def end_compliance(env: Record, sc: Record) -> float:
    """End an episode and return the reward of that: one without a fix costs its penalty."""
    reward = -sc.no_fix_penalty * sc.alignment_weight if env.fixes == 0 else 0.0
    env.alignment_total += reward
    env.last_fixes = env.fixes
    env.last_compliant = env.compliant
    env.last_rate = env.rate
    env.last_alignment_total = env.alignment_total
    return float(reward)


@kernel
def write_order(env: Record, row: NDArray[np.int8]) -> None:
    """Write the order into the last bits of `row`: 1 at 5 * position + unit."""
    at = len(row) - ORDER_BITS
    for bit in range(ORDER_BITS):
        row[at + bit] = 0
    for position in range(NUM_UNITS):
        row[at + NUM_UNITS * position + int(env.order[position])] = 1
