"""Judge Blue's fixes by a workflow, and reward compliance.

Everything about a step's compliance is known before it is played: the true state, the action, and whether the episode
will be truncated. So a batch with a workflow is judged in a loop of its own right before the step, and the step itself
knows nothing of workflows.

The alignment reward is the change of a potential: weight * (rate + bonuses - penalties), where the rate is compliant /
fixes and 0 before the first fix. Its sum over an episode is therefore the potential at the end.
"""

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.layout import LEDGER, NUM_UNITS, SCENARIO, STATE, TERMS, Record
from garrison.cage2.names import FIRST_BLOCK, NUM_HOSTS, REMOVE_BLOCK, RESTORE_BLOCK
from garrison.cage2.step import RESET_DISABLED, RESET_SAME_STEP, Records
from garrison.cage2.workflow import UNIT_OF_HOST
from garrison.jit import COMPILED, kernel

NO_FIX_RATE = 0.5  # what an episode without a fix reports


@kernel
def fix_target(action: int) -> int:
    """Return the host that a Remove or a Restore is aimed at, -1 for other actions."""
    block = (action - FIRST_BLOCK) // NUM_HOSTS if action >= FIRST_BLOCK else -1
    return (action - FIRST_BLOCK) % NUM_HOSTS if block in (REMOVE_BLOCK, RESTORE_BLOCK) else -1


@kernel
def complies_by_state(env: Record, sc: Record, ledger: Record, terms: Record, unit: int) -> bool:
    """Say whether `unit` is the first compromised type in the order, or nothing is compromised."""
    compromised = 0
    for h in range(NUM_HOSTS):
        if env.sessions[h] > 0 and (terms.count_foothold or h != sc.foothold):
            compromised |= 1 << UNIT_OF_HOST[h]
    if compromised == 0:
        return True
    for position in range(NUM_UNITS):
        if (compromised >> ledger.order[position]) & 1:
            return bool(ledger.order[position] == unit)
    return False  # not reached: the order has every type


@kernel
def complies_by_history(ledger: Record, unit: int) -> bool:
    """Say whether every type before `unit` in the order was the target of a fix."""
    for position in range(NUM_UNITS):
        if ledger.order[position] == unit:
            return True
        if not (int(ledger.fixed) >> ledger.order[position]) & 1:
            return False
    return False  # not reached: the order has every type


@kernel
def judge(env: Record, sc: Record, ledger: Record, terms: Record, unit: int) -> float:
    """Enter a fix of `unit` and return its alignment reward."""
    if terms.by_history:
        complies = complies_by_history(ledger, unit)
    else:
        complies = complies_by_state(env, sc, ledger, terms, unit)
    ledger.fixed = int(ledger.fixed) | (1 << unit)
    ledger.fixes += 1
    if complies:
        ledger.compliant += 1
    fixes, compliant = int(ledger.fixes), int(ledger.compliant)
    ledger.rate = compliant / fixes
    extra = terms.step_bonus * compliant - terms.step_penalty * (fixes - compliant)
    potential = terms.weight * (ledger.rate + extra)
    reward = potential - ledger.alignment_return
    ledger.alignment_return = potential
    return float(reward)


@kernel
def open_ledger(ledger: Record) -> None:
    """Begin an episode: the order that was asked for last holds from here on."""
    for position in range(NUM_UNITS):
        ledger.order[position] = ledger.next_order[position]
    ledger.fixes = 0
    ledger.compliant = 0
    ledger.rate = NO_FIX_RATE
    ledger.alignment_return = 0.0
    ledger.fixed = 0


@kernel
def close_ledger(ledger: Record) -> None:
    """Keep the numbers of the episode that ends; its environment return is known after the step."""
    ledger.episodes += 1
    ledger.last_fixes = ledger.fixes
    ledger.last_compliant = ledger.compliant
    ledger.last_rate = ledger.rate
    ledger.last_alignment_return = ledger.alignment_return


@kernel(cached=True)
def judge_batch(
    envs: Records,
    scenarios: Records,
    ledgers: Records,
    all_terms: Records,
    actions: NDArray[np.int64],
    alignments: NDArray[np.float64],
    start: int,
    stop: int,
    reset_mode: int,
) -> None:
    """Judge the coming step of the environments start..stop-1 and write its alignment rewards."""
    sc = scenarios[0]
    terms = all_terms[0]
    for i in range(start, stop):
        env = envs[i]
        alignment = 0.0
        if env.done:  # the step will only reset this environment
            open_ledger(ledgers[i])
        else:
            host = fix_target(int(actions[i]))
            if host >= 0 and (terms.count_foothold or host != sc.foothold):
                alignment = judge(env, sc, ledgers[i], terms, UNIT_OF_HOST[host])
            if env.t + 1 >= env.length:
                ledger = ledgers[i]
                if ledger.fixes == 0:
                    alignment -= terms.no_fix_penalty * terms.weight
                    ledger.alignment_return += alignment
                close_ledger(ledger)
                if reset_mode == RESET_SAME_STEP:
                    open_ledger(ledger)
        alignments[i] = alignment


@kernel(cached=True)
def open_batch(ledgers: Records, mask: NDArray[np.bool_]) -> None:
    """Begin the first episode of the environments of `mask`, as `reset` does."""
    for i in range(len(ledgers)):
        if mask[i]:
            ledger = ledgers[i]
            open_ledger(ledger)
            ledger.episodes = 0
            ledger.last_fixes = 0
            ledger.last_compliant = 0
            ledger.last_rate = 0.0
            ledger.last_env_return = 0.0
            ledger.last_alignment_return = 0.0


def warm_up() -> None:
    """Compile the kernels above, or load them from the cache: about a second, and only where there is a workflow."""
    if not COMPILED or open_batch.signatures:  # type: ignore[attr-defined]
        return
    envs, scenario, ledgers, terms = np.zeros(1, STATE), np.zeros(1, SCENARIO), np.zeros(1, LEDGER), np.zeros(1, TERMS)
    judge_batch(envs, scenario, ledgers, terms, np.zeros(1, np.int64), np.zeros(1), 0, 1, RESET_DISABLED)
    open_batch(ledgers, np.ones(1, np.bool_))
