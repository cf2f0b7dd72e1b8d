"""The turn order, reset, and the loop over a batch."""

import sys
from collections.abc import Callable
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.attack import attack
from garrison.cage2.compliance import begin_compliance, end_compliance, judge, write_order
from garrison.cage2.defend import allow, defend
from garrison.cage2.defender_memory import forget, remember
from garrison.cage2.details import draw_network
from garrison.cage2.layout import DETAILS, GENERATOR_WORDS, NUM_TERMS, SCENARIO, STATE, TAPE, Record
from garrison.cage2.mersenne import seed_generators
from garrison.cage2.names import (
    FIRST_BLOCK,
    NUM_ACTIONS,
    NUM_DECOYS,
    NUM_HOSTS,
    NUM_REDS,
    NUM_SUBNETS,
    REMOVE_BLOCK,
    Activity,
    Belief,
    Observation,
    Source,
    Success,
)
from garrison.cage2.observation_sets import write_further_bits
from garrison.cage2.observe import NUM_BITS, notice, write_observation
from garrison.cage2.red import choose_red_action
from garrison.cage2.reward import charge
from garrison.cage2.rng import uniform
from garrison.cage2.sessions import clear_sessions
from garrison.cage2.soundness import first_row_outside, first_unsound, first_unsound_details, warm_up_checks
from garrison.jit import COMPILED, is_compiled, kernel

Records = NDArray[np.void]

# What happens to an environment whose episode has ended; Gymnasium's three autoreset modes.
RESET_NEXT_STEP = 0
RESET_SAME_STEP = 1
RESET_DISABLED = 2

COMPILING = "garrison: compiling the CAGE-2 kernels, once; about ten seconds"


@kernel
def step(env: Record, sc: Record, tape: Record, details: Record, action: int, red_kind: int, red_target: int) -> float:
    """Play one turn and return Blue's reward (rules §5). Green never does anything."""
    cost = defend(env, sc, details, action)
    kind, target = choose_red_action(env, sc, tape, details, red_kind, red_target)
    attack(env, sc, tape, details, kind, target)
    reward = charge(env, sc, cost)
    notice(env, sc)
    env.t += 1
    return reward


@kernel
def reset(env: Record, sc: Record) -> None:
    """Begin a new episode; only the random stream carries over (rules §4)."""
    for h in range(NUM_HOSTS):
        clear_sessions(env, h, h == sc.foothold)
        env.stale[h] = 0
        env.malware[h] = 0
        env.ports[h] = sc.image_ports[h]
        env.sockets[h] = sc.image_sockets[h]
        env.patched[h] = 0
        env.red_ports[h] = -1
        env.known_address[h] = 0
        env.known_host[h] = 0
        env.belief[h] = Belief.NO
        for d in range(NUM_DECOYS):
            env.decoys[h, d] = 0
    for s in range(NUM_SUBNETS):
        env.known_subnet[s] = 0
    for term in range(NUM_TERMS):
        env.reward_terms[term] = 0.0
    env.known_address[sc.foothold] = 1
    env.known_host[sc.foothold] = 1
    env.known_subnet[sc.subnet[sc.foothold]] = 1
    env.total = 0.0
    env.t = 0
    env.done = 0
    env.ot_running = 1
    env.ot_stoppable = 1
    env.ot_active = 1
    env.ot_known = 0
    env.red_kind = 0
    env.red_target = -1
    env.red_exploit = -1
    env.red_success = Success.UNKNOWN
    env.red_answered = 1
    env.bline_state = 0
    env.bline_seen = 0
    env.bline_user = -1
    env.swept = 0
    env.scanned = 0
    env.exploited = 0
    env.escalated = 0
    env.mapped = 0
    env.last_exploited = -1
    env.last_owned = -1
    env.blue_action = 0
    env.blue_success = Success.UNKNOWN
    env.placed = -1
    env.found = 0
    env.events = 0
    env.event_ports = 0
    env.event_shell = 0
    env.activity = Activity.NONE
    env.active_host = -1


@kernel
def draw_red(env: Record, sc: Record) -> None:
    """Draw who plays Red in the coming episode, where that is a mixture."""
    u = uniform(env)
    for red in range(NUM_REDS):
        if u < sc.red_odds[red]:
            env.red = red
            return


@kernel
def begin(env: Record, sc: Record, details: Record, mixed: bool, row: NDArray[np.int8]) -> None:
    """Reset, draw the attacker if there is a choice, and write the first observation."""
    if mixed:
        draw_red(env, sc)
    reset(env, sc)
    if details is not None:
        draw_network(env, details)
    forget(env, sc)
    if sc.has_workflow:
        begin_compliance(env)
    show(env, sc, row)


@kernel
def show(env: Record, sc: Record, row: NDArray[np.int8]) -> None:
    """Write the observation that the scenario names, and the order of the workflow if it is shown."""
    write_observation(env, row)
    write_further_bits(env, int(sc.observation), row)
    if sc.shows_order:
        write_order(env, row)


@kernel
def details_of(details: Any, i: int) -> Record:
    """Return the details of an environment, None where there are none."""
    if details is None:
        return None
    return details[i]


@kernel(cached=True)
def reset_batch(
    envs: Records, scenarios: Records, details: Any, mixed: bool, mask: NDArray[np.bool_], obs: NDArray[np.int8]
) -> None:
    """Reset the environments of `mask` and write their first observation; `details` as in `step_batch`."""
    sc = scenarios[0]
    for i in range(len(envs)):
        if mask[i]:
            begin(envs[i], sc, details_of(details, i), mixed, obs[i])
            envs[i].last_total = 0.0
            envs[i].last_length = 0
            envs[i].env_reward = 0.0
            envs[i].alignment = 0.0
            envs[i].last_fixes = 0
            envs[i].last_compliant = 0
            envs[i].last_rate = 0.0
            envs[i].last_alignment_total = 0.0


@kernel(cached=True, apart=True)
def step_batch(
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
    start: int,
    stop: int,
    reset_mode: int,
    mixed: bool,
) -> int:
    """Step the environments start..stop-1 and return how many episodes ended.

    `details` are records of `DETAILS` where the draws are CybORG's own, else None. This is another kernel for each.
    """
    sc = scenarios[0]
    observation = int(sc.observation)  # read once: the compiler then makes a loop of its own for the plain bits
    ended = 0
    for i in range(start, stop):
        env = envs[i]
        if env.done:  # only with RESET_NEXT_STEP: this call resets and ignores the action
            begin(env, sc, details_of(details, i), mixed, obs[i])
            env.env_reward = 0.0
            env.alignment = 0.0
            rewards[i] = 0.0
            truncations[i] = False
            continue
        action = int(actions[i])
        unit = int(sc.fix_unit[action])
        alignment = judge(env, sc, unit) if unit >= 0 else 0.0  # by the true state before the step
        tape = tapes[i, env.t] if env.source == Source.TAPE else tapes[0, 0]
        own = details_of(details, i)
        reward = step(env, sc, tape, own, action, int(red_actions[i, 0]), int(red_actions[i, 1]))
        write_observation(env, obs[i])
        if observation != Observation.BITS:
            remember(env, sc, action, obs[i])
            write_further_bits(env, observation, obs[i])
        truncated = env.t >= env.length
        truncations[i] = truncated
        if truncated:
            ended += 1
            env.last_total = env.total
            env.last_length = env.t
            env.done = 1
            if sc.has_workflow:
                alignment += end_compliance(env, sc)
        if sc.has_workflow:
            env.env_reward = reward
            env.alignment = alignment
        rewards[i] = reward + alignment
        if truncated and reset_mode == RESET_SAME_STEP:
            final_obs[i] = obs[i]
            begin(env, sc, details_of(details, i), mixed, obs[i])
    return ended


@kernel(cached=True)
def observe_batch(envs: Records, scenarios: Records, mask: NDArray[np.bool_], obs: NDArray[np.int8]) -> None:
    """Write the observations of the environments of `mask`."""
    sc = scenarios[0]
    for i in range(len(envs)):
        if mask[i]:
            show(envs[i], sc, obs[i])


@kernel(cached=True)
def first_outside(values: NDArray[np.int64], low: int, high: int) -> int:
    """Return the index of the first value outside low..high-1, or -1."""
    for i in range(len(values)):
        if values[i] < low or values[i] >= high:
            return i
    return -1


@kernel(cached=True)
def are_inside(values: NDArray[np.int64], high: int) -> bool:
    """Return whether all values lie in 0..high-1; `first_outside`, which says where one does not, takes longer."""
    largest = np.uint64(0)
    for i in range(len(values)):  # without a way out, so that the compiler makes vector instructions of it
        largest = max(largest, np.uint64(values[i]))  # what is negative becomes very large
    return bool(largest < np.uint64(high))


@kernel(cached=True)
def mask_batch(envs: Records, scenarios: Records, by_truth: bool, masks: NDArray[np.bool_]) -> None:
    """Write which actions can have an effect: what Blue can know, or with `by_truth` what is the case."""
    sc = scenarios[0]
    for i in range(len(envs)):
        env = envs[i]
        row = masks[i]
        allow(sc, env.ports, row)
        if by_truth:
            for h in range(NUM_HOSTS):
                row[FIRST_BLOCK + h] = env.malware[h] != 0
                row[FIRST_BLOCK + REMOVE_BLOCK * NUM_HOSTS + h] = env.removable[h] > 0 or env.belief[h] > Belief.UNKNOWN


_ENTRIES: tuple[Any, ...] = (
    reset_batch,
    step_batch,
    observe_batch,
    first_outside,
    are_inside,
    mask_batch,
    first_row_outside,
    first_unsound,
)


def are_compiled() -> bool:
    """Return whether every kernel that Python calls has its machine code, in memory or on disk."""
    return is_compiled(*_ENTRIES)


def warm_up(with_details: bool = False) -> None:
    """Compile every kernel that Python calls, or load it from the cache; say how far it is if that takes long.

    Only a batch that draws as CybORG does needs the kernels `with_details`.
    """
    if not COMPILED:
        return
    envs, scenario, tapes = np.zeros(1, STATE), np.zeros(1, SCENARIO), np.zeros((1, 1), TAPE)
    mask, obs, actions = np.ones(1, np.bool_), np.zeros((1, NUM_BITS), np.int8), np.zeros(1, np.int64)
    red_actions = np.zeros((1, 2), np.int8)
    rewards, masks = np.zeros(1), np.zeros((1, NUM_ACTIONS), np.bool_)

    def reset_and_step(details: Any) -> list[Callable[[], object]]:
        common = (envs, scenario, tapes, details, actions, red_actions, obs, obs, rewards, mask)
        return [
            lambda: reset_batch(envs, scenario, details, False, mask, obs),
            lambda: step_batch(*common, 0, 1, RESET_DISABLED, False),
        ]

    if not all(k.signatures for k in _ENTRIES):
        call_in_turn(
            [
                *reset_and_step(None),
                lambda: observe_batch(envs, scenario, mask, obs),
                lambda: first_outside(actions, 0, 1),
                lambda: are_inside(actions, 1),
                lambda: mask_batch(envs, scenario, False, masks),
                lambda: warm_up_checks(envs, scenario, tapes),
            ],
            takes_long=not are_compiled(),
        )
    last: Any = seed_generators  # of the kernels with details: the others have been compiled before it
    if with_details and not last.signatures:
        details = np.zeros(1, DETAILS)
        details["position"] = GENERATOR_WORDS
        details["generator"] = 1  # a generator of zeros would never draw a process id
        keys = np.zeros((1, 1), np.uint32), np.ones(1, np.int64)
        call_in_turn(
            [
                *reset_and_step(details),
                lambda: first_unsound_details(envs, scenario, details),
                lambda: seed_generators(details, np.zeros(1, np.int64), *keys),
            ],
            takes_long=not is_compiled(last),
        )


def call_in_turn(calls: list[Callable[[], object]], takes_long: bool) -> None:
    """Make calls that compile kernels, and say how far they are if that takes long."""
    for number, call in enumerate(calls):
        if takes_long:
            tell_compiling(number, len(calls), sys.stderr)
        call()
    if takes_long:
        tell_compiling(len(calls), len(calls), sys.stderr)


def tell_compiling(done: int, count: int, stream: TextIO) -> None:
    """Say that kernels are compiled: on a terminal in a line that counts them, elsewhere in one sentence."""
    if stream.isatty():
        print(f"\r{COMPILING}: {done} of {count}", end="\n" if done == count else "", file=stream, flush=True)
    elif done == 0:
        print(f"{COMPILING}...", file=stream, flush=True)
