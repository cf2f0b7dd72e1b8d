"""Stepping the native batch from another kernel: a learner's, that acts and steps without Python in between."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.defend import allow
from garrison.cage2.names import NUM_ACTIONS
from garrison.cage2.step import Records, step_batch
from garrison.jit import kernel

Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]


class NativeSteps(NamedTuple):
    """A batch as a kernel steps it; what is shown stands in its own buffers, which the next step overwrites."""

    envs: Records
    scenarios: Records
    tapes: Records
    actions: Rows
    """(n,): of the next step, written from what is chosen."""
    red_actions: NDArray[np.int8]
    observations: NDArray[np.int8]
    final_observations: NDArray[np.int8]
    """Where an episode has just ended and the next has begun: what was seen last of it."""
    rewards: NDArray[np.float64]
    truncations: Flags
    action_ids: Rows
    """What each choice means."""
    reset_mode: int
    mixed: bool
    """Whether attackers are drawn at each reset."""


@kernel
def step_rows(steps: NativeSteps, choices: NDArray[np.int32], begin: int, end: int) -> int:
    """Step the environments from `begin` to `end` with their first choices; return how many episodes ended."""
    for i in range(begin, end):
        steps.actions[i] = steps.action_ids[choices[i - begin, 0]]
    ended: int = step_batch(
        steps.envs,
        steps.scenarios,
        steps.tapes,
        None,
        steps.actions,
        steps.red_actions,
        steps.observations,
        steps.final_observations,
        steps.rewards,
        steps.truncations,
        begin,
        end,
        steps.reset_mode,
        steps.mixed,
    )
    return ended


@kernel
def allow_rows(steps: NativeSteps, begin: int, end: int, masks: Flags) -> None:
    """Write what Blue can know of these environments, as `VectorEnv.action_masks`; no rows of masks means none."""
    if masks.shape[0] == 0:
        return
    row = np.empty(NUM_ACTIONS, np.bool_)
    for i in range(begin, end):
        allow(steps.scenarios[0], steps.envs[i].ports, row)
        for choice in range(masks.shape[1]):
            masks[i, choice] = row[steps.action_ids[choice]]
