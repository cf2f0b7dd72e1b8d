"""Several steps of a batch inside of a kernel, which several threads may run together."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.job_board import NO_CALL, finish, first_job, make_board, next_job, take
from garrison.cage2.names import NUM_HOSTS
from garrison.cage2.observe import BITS_PER_HOST
from garrison.cage2.step import Records, call_in_turn, step_batch
from garrison.jit import is_compiled, kernel
from garrison.jit.atomics import Words, act_at

# Where actions come from.
GIVEN = 0
"""They stand in the buffer"""
PLAN = 1
"""Row by row, for each step of the call"""
CYCLE = 2
"""Row by row, for each step of an episode, and again from the first"""
REACTIONS = 3
"""By the bits that Blue sees of each host"""
FUNCTION = 4
"""From machine code of the user"""

RETURN, LENGTH, STEP = range(3)
"""What is kept of an episode that ended"""


@kernel
def react(table: NDArray[np.int64], row: NDArray[np.int8]) -> int:
    """Return the action on the first host for which the table has one; behind the hosts stands what is done else."""
    for h in range(NUM_HOSTS):
        code = 0
        for b in range(BITS_PER_HOST):
            code += (row[h * BITS_PER_HOST + b] != 0) << b
        if table[h, code] >= 0:
            return int(table[h, code])
    return int(table[NUM_HOSTS, 0])


@kernel
def choose(
    envs: Records,
    obs: NDArray[np.int8],
    actions: NDArray[np.int64],
    source: int,
    table: NDArray[np.int64],
    function: Any,
    memory: NDArray[np.int64],
    ids: NDArray[np.int64],
    t: int,
    begin: int,
    end: int,
) -> int:
    """Write the actions of step t of the call; return an environment whose action there is not, or -1."""
    columns = table.shape[1]
    if source == PLAN:
        for i in range(begin, end):
            actions[i] = table[t, i if columns > 1 else 0]
    elif source == CYCLE:
        for i in range(begin, end):
            actions[i] = table[envs[i].t % len(table), i if columns > 1 else 0]
    elif source == REACTIONS:
        for i in range(begin, end):
            actions[i] = react(table, obs[i])
    else:
        for i in range(begin, end):
            actions[i] = -1 if envs[i].done else envs[i].t  # a step that only resets needs no action
        act_at(function, obs, memory, actions, begin, end)
        for i in range(begin, end):
            if envs[i].done:
                actions[i] = 0
            if actions[i] < 0 or actions[i] >= len(ids):
                return i
    for i in range(begin, end):
        actions[i] = ids[actions[i]]
    return -1


@kernel(cached=True)
def play_share(
    envs: Records,
    scenarios: Records,
    tapes: Records,
    details: Any,
    actions: NDArray[np.int64],
    red_actions: NDArray[np.int8],
    obs: NDArray[np.int8],
    final_obs: NDArray[np.int8],
    rewards: NDArray[np.float64],
    truncations: NDArray[np.bool_],
    reset_mode: int,
    mixed: bool,
    source: int,
    table: NDArray[np.int64],
    function: Any,
    memory: NDArray[np.int64],
    ids: NDArray[np.int64],
    first: int,
    last: int,
    kept_rewards: NDArray[np.float64],
    sums: NDArray[np.float64],
    kept_truncations: NDArray[np.bool_],
    episodes: NDArray[np.float64],
    episode_counts: NDArray[np.int64],
    stopped_at: NDArray[np.int64],
    items: int,
    chunk: int,
    board: Words,
    member: int,
    call: int,
) -> None:
    """Play the steps first..last-1 of the call; the sum of the chunks' results is how many episodes ended.

    The first parameters are those of `step_batch`, the last those of `job_board`. What is kept of each step goes to the
    arrays that have any rows. An environment whose policy names no action stops its chunk there, and is written down in
    `stopped_at`.
    """
    has_workflow = scenarios[0].has_workflow
    job = first_job(board, call)
    while job >= 0:
        k = take(board, job, member, items, chunk)
        while k >= 0:
            begin, end = k * chunk, min(items, (k + 1) * chunk)
            total = 0
            for t in range(first, last):
                if source != GIVEN:
                    bad = choose(envs, obs, actions, source, table, function, memory, ids, t, begin, end)
                    if bad >= 0:
                        stopped_at[0] = bad
                        break
                ended = step_batch(
                    envs,
                    scenarios,
                    tapes,
                    details,
                    actions,
                    red_actions,
                    obs,
                    final_obs,
                    rewards,
                    truncations,
                    begin,
                    end,
                    reset_mode,
                    mixed,
                )
                total += ended
                if len(sums) > 0:
                    for i in range(begin, end):
                        sums[i] += rewards[i]
                if len(kept_rewards) > 0:
                    for i in range(begin, end):
                        kept_rewards[t, i] = rewards[i]
                if len(kept_truncations) > 0:
                    for i in range(begin, end):
                        kept_truncations[t, i] = truncations[i]
                if ended > 0 and len(episodes) > 0:
                    for i in range(begin, end):
                        if truncations[i]:
                            own = episodes[i, episode_counts[i]]
                            aligned = envs[i].last_alignment_total if has_workflow else 0.0
                            own[RETURN] = envs[i].last_total + aligned
                            own[LENGTH] = envs[i].last_length
                            own[STEP] = t
                            episode_counts[i] += 1
            finish(board, total)
            k = take(board, job, member, items, chunk)
        job = next_job(board, job, member, items, chunk, call)


NOTHING_KEPT: tuple[Any, ...] = (
    np.zeros((0, 0)),
    np.zeros(0),
    np.zeros((0, 0), np.bool_),
    np.zeros((0, 0, 0)),
    np.zeros(0, np.int64),
    np.zeros(0, np.int64),
)
"""The arrays of `play_share`, from `kept_rewards` on, of who keeps nothing"""
NO_POLICY: tuple[Any, ...] = (GIVEN, np.zeros((0, 0), np.int64), 0, np.zeros((0, 0), np.int64), np.zeros(0, np.int64))
"""The arguments of `play_share`, from `source` on, of who has written the actions"""


def get_ready(arguments: Any) -> None:
    """Compile the kernel for these arguments of `play_share`, or load it from the cache; nothing is played."""
    play: Any = play_share
    call_in_turn([lambda: play(*arguments, 0, 1, make_board(1, 0), 0, NO_CALL)], takes_long=not is_compiled(play))
