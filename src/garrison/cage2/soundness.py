"""Which records a kernel may be given: the range of every field, and how fields must fit together.

Kernels index and shift by what they find in a record and check nothing themselves. States come from other people's
checkpoints and pickles, tapes from recordings, so whatever enters a batch from outside is checked here, compiled,
before a kernel sees it.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.defender_history import MOST_EXPLOITS, REMEMBERED
from garrison.cage2.details import NUM_BLOCKS, NUM_PIDS, SESSION, find_process, is_reported
from garrison.cage2.layout import (
    DETAILS,
    GENERATOR_WORDS,
    MAX_DETAILED_LENGTH,
    MAX_LENGTH,
    MAX_PROCESSES,
    MAX_REPORTS,
    NUM_UNITS,
    NUM_WATCHED,
    SCENARIO,
    STATE,
    TAPE,
    Record,
)
from garrison.cage2.names import (
    NUM_ACTIONS,
    NUM_DECOYS,
    NUM_EXPLOITS,
    NUM_HOSTS,
    NUM_REDS,
    NUM_SUBNETS,
    OBSERVATIONS,
    PORTS,
    Access,
    Activity,
    Belief,
    Genuine,
    RedKind,
    Source,
    Suspect,
)
from garrison.errors import UserError
from garrison.jit import kernel, records

Range = tuple[float, float]

FLAG: Range = (0, 1)
SUCCESS: Range = (-1, 1)
ACCESS: Range = (Access.NONE, Access.PRIVILEGED)
HOST: Range = (0, NUM_HOSTS - 1)
HOST_OR_NONE: Range = (-1, NUM_HOSTS - 1)
HOST_MASK: Range = (0, 2**NUM_HOSTS - 1)
PORT_MASK: Range = (0, 2 ** len(PORTS) - 1)
EXPLOIT: Range = (0, NUM_EXPLOITS - 1)
EXPLOIT_OR_NONE: Range = (-1, NUM_EXPLOITS - 1)
COUNT: Range = (0, MAX_LENGTH)
PID: Range = (0, NUM_PIDS - 1)
ADDRESS: Range = (0, 16 * NUM_BLOCKS - 1)
UNIT: Range = (0, NUM_UNITS - 1)
FRESH: Range = (0, REMEMBERED)
FINITE: Range = (-np.finfo(np.float64).max, np.finfo(np.float64).max)
HIGHEST_COST = 1e6  # of one term of a step's reward; so that sums stay exact to their resolution
COST: Range = (-HIGHEST_COST, HIGHEST_COST)
RETURN: Range = (-1e12, 1e12)
ANY: Range = (-np.inf, np.inf)

STATE_RANGES: dict[str, Range] = {
    "reward_terms": COST,
    "total": RETURN,
    "last_total": RETURN,
    "last_length": COUNT,
    "t": COUNT,
    "length": (1, MAX_LENGTH),
    "done": FLAG,
    "source": (Source.STREAM, Source.CYBORG),
    "stream": ANY,
    "access": ACCESS,
    "access_oldest": ACCESS,
    "held": HOST_MASK,
    "sessions": COUNT,
    "removable": COUNT,
    "hidden": COUNT,
    "lead": COUNT,
    "oldest_fixed": ACCESS,
    "reported": COUNT,
    "stale": COUNT,
    "malware": FLAG,
    "decoys": COUNT,
    "ports": PORT_MASK,
    "sockets": COUNT,
    "patched": FLAG,
    "ot_running": FLAG,
    "ot_stoppable": FLAG,
    "ot_active": FLAG,
    "ot_known": FLAG,
    "red": (0, NUM_REDS - 1),
    "red_ports": (-1, PORT_MASK[1]),
    "known_address": FLAG,
    "known_host": FLAG,
    "known_subnet": FLAG,
    "red_kind": (RedKind.SLEEP, RedKind.INVALID),
    "red_target": HOST_OR_NONE,
    "red_exploit": EXPLOIT_OR_NONE,
    "red_success": SUCCESS,
    "red_answered": FLAG,
    "bline_state": (0, 14),
    "bline_seen": (0, 2**15 - 1),
    "bline_user": HOST_OR_NONE,
    "swept": (0, 2**NUM_SUBNETS - 1),
    "scanned": HOST_MASK,
    "exploited": HOST_MASK,
    "escalated": HOST_MASK,
    "mapped": HOST_MASK,
    "last_exploited": HOST_OR_NONE,
    "last_owned": HOST_OR_NONE,
    "blue_action": (0, NUM_ACTIONS - 1),
    "blue_success": SUCCESS,
    "placed": HOST_OR_NONE,
    "found": FLAG,
    "events": COUNT,
    "event_ports": (0, len(PORTS)),
    "event_shell": FLAG,
    "belief": (Belief.NO, Belief.PRIVILEGED),
    "activity": (Activity.NONE, Activity.EXPLOIT),
    "active_host": HOST_OR_NONE,
    "clock": COUNT,
    "scan_seen": HOST_MASK,
    "exploit_seen": HOST_MASK,
    "first_scan": HOST_OR_NONE,
    "last_event": HOST_OR_NONE,
    "last_was_exploit": FLAG,
    "since_event": COUNT,
    "own_restores": HOST_MASK,
    "own_ports": PORT_MASK,
    "own_decoys": (0, 2**NUM_DECOYS - 1),
    "suspect": (Suspect.NOBODY, Suspect.MEANDER),
    "event_fresh": FRESH,
    "restore_fresh": FRESH,
    "remove_fresh": FRESH,
    "exploits_seen": (0, MOST_EXPLOITS),
    "own_action": (0, NUM_ACTIONS - 1),
    "past_events": (0, 2 * NUM_WATCHED + 2),
    "order": UNIT,
    "next_order": UNIT,
    "env_reward": FINITE,
    "alignment": FINITE,
    "fixes": COUNT,
    "compliant": COUNT,
    "fixed": HOST_MASK,
    "rate": FINITE,
    "alignment_total": FINITE,
    "last_fixes": COUNT,
    "last_compliant": COUNT,
    "last_rate": FINITE,
    "last_alignment_total": FINITE,
    "unused": (0, 0),
}
"""What each field of `STATE` may hold"""

SCENARIO_RANGES: dict[str, Range] = {
    "subnet": (0, NUM_SUBNETS - 1),
    "windows": FLAG,
    "confidentiality": COST,
    "image_ports": PORT_MASK,
    "image_sockets": (0, 100),
    "genuine": (Genuine.ABSENT, Genuine.PRIVILEGED),
    "reveals": HOST_OR_NONE,
    "foothold": HOST,
    "service_host": HOST,
    "service_cost": COST,
    "restore_cost": COST,
    "gateways": HOST_MASK,
    "needs": PORT_MASK,
    "needs_any": PORT_MASK,
    "weight": FINITE,
    "brute_force": FLAG,
    "top_odds": FLAG,
    "detect_rate": FLAG,
    "brute_force_tries": (0, 100),
    "process_ids": (1000, 2**31 - 1),
    "opens": PORT_MASK,
    "checks": PORT_MASK,
    "only_on": (-1, 1),
    "blocks": EXPLOIT,
    "ports_accumulate": FLAG,
    "restore_patches": FLAG,
    "decoy_hides": FLAG,
    "red_odds": FLAG,
    "observation": (0, len(OBSERVATIONS) - 1),
    "shows_order": FLAG,
    "has_workflow": FLAG,
    "by_history": FLAG,
    "inside": HOST_MASK,
    "fix_unit": (-1, NUM_UNITS - 1),
    "alignment_weight": FINITE,
    "step_bonus": FINITE,
    "step_penalty": FINITE,
    "no_fix_penalty": FINITE,
    "unused": (0, 0),
}
"""What each field of `SCENARIO` may hold"""

TAPE_RANGES: dict[str, Range] = {
    "bline_target": HOST_OR_NONE,
    "address_order": HOST_OR_NONE,
    "host_order": HOST_OR_NONE,
    "exploit_other": EXPLOIT_OR_NONE,
    "exploit_top": (-1, 1),
    "detected": (-1, 1),
    "session_index": (-1, MAX_LENGTH),
    "session_removable": (-1, 1),
    "process_id_reused": FLAG,
    "unused": (0, 0),
}
"""What each field of `TAPE` may hold; -1 is a draw that was not made"""

DETAILS_RANGES: dict[str, Range] = {
    "generator": ANY,
    "position": (0, GENERATOR_WORDS),
    "addresses": ADDRESS,
    "subnets": ADDRESS,
    "session_pids": PID,
    "process_count": (0, MAX_PROCESSES),
    "process_host": HOST,
    "process_pid": PID,
    "process_decoy": (SESSION, NUM_DECOYS - 1),
    "process_level": ACCESS,
    "registered": PID,
    "report_count": (0, MAX_REPORTS),
    "report_host": HOST,
    "report_pid": PID,
    "used_ports": ANY,
    "named_exploit": EXPLOIT_OR_NONE,
    "new_pid": PID,
    "address_order": HOST,
    "host_order": HOST,
    "drawn": (0, 2**16 - 1),
    "drawn_count": (0, 2**31 - 1),
    "lifted": (-1, MAX_PROCESSES),
    "unused": (0, 0),
}
"""What each field of `DETAILS` may hold"""

_RANGES: dict[str, tuple[np.dtype[np.void], Mapping[str, Range]]] = {
    "state": (STATE, STATE_RANGES),
    "scenario": (SCENARIO, SCENARIO_RANGES),
    "tape": (TAPE, TAPE_RANGES),
    "details": (DETAILS, DETAILS_RANGES),
}

# How the fields of a state must fit together; `_broken_rule` returns the place of the first that is broken.
_RULES = (
    "an episode that goes on has steps left",
    "its random stream has a bit that is set",
    "a recorded tape is attached, as long as the episode",
    "Red's sessions on each host add up, and leave room for more",
    "access levels and the mask of held hosts follow from the sessions",
    "decoys and sockets leave room for more",
    "B_line has drawn a user host that reveals another",
    "what Blue saw is nothing, a scan or an exploit",
    "the steps that Blue remembers leave room for more",
    "no more fixes comply than were made, and they leave room for more",
    "both orders of the workflow have each unit once",
)
_DETAIL_RULES = (
    "its generator has a bit that is set",
    "its processes and reports leave room for more",
    "Red's first session is the first process",
    "each process is a session with a level or a decoy, and has an id of its own",
    "its processes are the sessions and decoys that its state counts",
)


@kernel(cached=True)
def first_row_outside(values: NDArray[Any], start: int, lows: NDArray[Any], highs: NDArray[Any]) -> int:
    """Return the first row with a value outside its range, or -1; the ranges begin at column `start`."""
    count = len(lows)
    for i in range(values.shape[0]):
        row = values[i, start : start + count]
        wrong = False  # no early end: the loop then becomes vector instructions, six times as fast
        for j in range(count):
            value = row[j]
            wrong |= (value < lows[j]) | (value > highs[j]) | (value != value)
        if wrong:
            return i
    return -1


@kernel(cached=True)
def first_unsound(envs: NDArray[np.void], scenarios: NDArray[np.void], tape_steps: int) -> tuple[int, int]:
    """Return the first state whose fields do not fit together, and the rule that it breaks; or -1, -1."""
    sc = scenarios[0]
    for i in range(len(envs)):
        rule = _broken_rule(envs[i], sc, tape_steps)
        if rule >= 0:
            return i, rule
    return -1, -1


@kernel
def _broken_rule(env: Record, sc: Record, tape_steps: int) -> int:
    t = int(env.t)
    if t > env.length or (t == env.length and not env.done):
        return 0
    if env.stream[0] == 0 and env.stream[1] == 0 and env.stream[2] == 0 and env.stream[3] == 0:
        return 1
    if env.source == Source.TAPE and env.length > tape_steps:
        return 2
    room = MAX_LENGTH + 1 - (int(env.length) - t)  # what a count may be now, to rise by one a step and not overflow
    for h in range(NUM_HOSTS):
        if not _sessions_add_up(env, h, room):
            return 3
        if not _access_follows(env, h):
            return 4
        placed = 0
        for d in range(NUM_DECOYS):
            placed += int(env.decoys[h, d])
        if placed > room or env.sockets[h] > int(sc.image_sockets[h]) + room:
            return 5
    user = int(env.bline_user)
    if (user >= 0 and sc.reveals[user] < 0) or (user < 0 and env.bline_state > 0):
        return 6
    if env.activity != Activity.NONE and env.activity != Activity.SCAN and env.activity != Activity.EXPLOIT:
        return 7
    if env.clock > room or env.since_event > room:
        return 8
    if env.compliant > env.fixes or env.fixes > room:
        return 9
    return 10 if sc.has_workflow and not _orders_are_whole(env) else -1


@kernel
def _sessions_add_up(env: Record, h: int, room: int) -> bool:
    sessions, removable, hidden = int(env.sessions[h]), int(env.removable[h]), int(env.hidden[h])
    privileged = sessions - removable - hidden
    if privileged < env.reported[h] or sessions + int(env.stale[h]) > room:
        return False
    if env.oldest_fixed[h] == Access.NONE:
        return bool(removable == sessions and env.lead[h] == removable)
    return bool(env.lead[h] <= removable and (hidden if env.oldest_fixed[h] == Access.USER else privileged) > 0)


@kernel
def _access_follows(env: Record, h: int) -> bool:
    users = int(env.removable[h]) + int(env.hidden[h])
    best = Access.PRIVILEGED if env.sessions[h] > users else (Access.USER if users > 0 else Access.NONE)
    oldest = Access.USER if env.lead[h] > 0 else int(env.oldest_fixed[h])
    is_held = 1 if env.sessions[h] > 0 else 0
    return bool(env.access[h] == best and env.access_oldest[h] == oldest and (int(env.held) >> h) & 1 == is_held)


@kernel
def _orders_are_whole(env: Record) -> bool:
    now, later = 0, 0
    for position in range(NUM_UNITS):
        now |= 1 << int(env.order[position])
        later |= 1 << int(env.next_order[position])
    return now == later == (1 << NUM_UNITS) - 1


@kernel(cached=True)
def first_unsound_details(
    envs: NDArray[np.void], scenarios: NDArray[np.void], details: NDArray[np.void]
) -> tuple[int, int]:
    """Return the first environment whose details do not fit its state, and the rule that this breaks; or -1, -1."""
    sc = scenarios[0]
    for i in range(len(envs)):
        rule = _broken_detail_rule(envs[i], sc, details[i])
        if rule >= 0:
            return i, rule
    return -1, -1


@kernel
def _broken_detail_rule(env: Record, sc: Record, own: Record) -> int:
    used = np.int64(own.generator[0]) & 0x80000000  # its other bits are never used
    for i in range(1, GENERATOR_WORDS):
        used |= np.int64(own.generator[i])
    if used == 0:
        return 0
    left = int(env.length) - int(env.t)
    is_long = env.length > MAX_DETAILED_LENGTH
    if is_long or own.process_count + 2 * left > MAX_PROCESSES or own.report_count + left > MAX_REPORTS:
        return 1
    if own.process_count > 0 and (
        own.process_host[0] != sc.foothold
        or own.process_decoy[0] != SESSION
        or own.process_level[0] != Access.PRIVILEGED
    ):
        return 2
    for i in range(own.process_count):
        is_session = own.process_decoy[i] == SESSION
        pid = int(own.process_pid[i])
        is_first = find_process(own, int(own.process_host[i]), pid) == i
        if pid == 0 or not is_first or is_session == (own.process_level[i] == Access.NONE):
            return 3
    for h in range(NUM_HOSTS):
        if not _counts_follow(env, own, h):
            return 4
    return -1


@kernel
def _counts_follow(env: Record, own: Record, h: int) -> bool:
    sessions, removable, hidden, reported, lead, oldest_fixed = 0, 0, 0, 0, 0, Access.NONE
    decoys = np.zeros(NUM_DECOYS, np.int64)
    for i in range(own.process_count):
        if own.process_host[i] != h:
            continue
        if own.process_decoy[i] != SESSION:
            decoys[own.process_decoy[i]] += 1
            continue
        sessions += 1
        level = int(own.process_level[i])
        is_told = is_reported(own, h, int(own.process_pid[i]))
        if level == Access.USER and is_told:
            removable += 1
            lead += 1 if oldest_fixed == Access.NONE else 0
            continue
        oldest_fixed = level if oldest_fixed == Access.NONE else oldest_fixed
        hidden += 1 if level == Access.USER else 0
        reported += 1 if level == Access.PRIVILEGED and is_told else 0
    for d in range(NUM_DECOYS):
        if env.decoys[h, d] != decoys[d]:
            return False
    return bool(
        env.sessions[h] == sessions
        and env.removable[h] == removable
        and env.hidden[h] == hidden
        and env.reported[h] == reported
        and env.lead[h] == lead
        and env.oldest_fixed[h] == oldest_fixed
    )


def check_states(
    envs: NDArray[np.void], scenario: NDArray[np.void], tape_steps: int, details: NDArray[np.void] | None = None
) -> None:
    """Raise unless every state is one that kernels can go on from.

    Args:
        envs: (n,) records of `STATE`.
        scenario: one record of `SCENARIO`, already checked.
        tape_steps: how many steps the attached tape of each environment has.
        details: (n,) records of `DETAILS`, where the draws are CybORG's own.
    """
    envs = np.ascontiguousarray(envs).reshape(-1)
    check_ranges("state", envs)
    _complain(*first_unsound(records(envs), records(scenario), tape_steps), _RULES)
    if np.any((envs["source"] == Source.CYBORG) != (details is not None)):
        raise UserError("the state names another source of random draws than the batch has.")
    if details is not None:
        details = np.ascontiguousarray(details).reshape(-1)
        check_ranges("details", details)
        _complain(*first_unsound_details(records(envs), records(scenario), records(details)), _DETAIL_RULES)


def _complain(i: int, rule: int, rules: tuple[str, ...]) -> None:
    if i >= 0:
        raise UserError(
            f"the state of environment {i} is none that a game can reach: it must hold that {rules[rule]}.",
            hint="It is damaged, or was changed by hand.",
        )


def warm_up_checks(envs: NDArray[np.void], scenario: NDArray[np.void], tapes: NDArray[np.void]) -> None:
    """Compile the kernels of this file for each size of number."""
    for what, values in (("state", envs), ("tape", tapes)):
        for table, start, lows, highs in _tables(what, values):
            first_row_outside(table, start, lows, highs)
    first_unsound(envs, scenario, 1)


def check_scenario(scenario: NDArray[np.void]) -> None:
    """Raise unless every field of a scenario lies in its range. This runs at import, so it compiles nothing."""
    if wrong := _first_outside("scenario", scenario, 0):
        raise UserError(wrong)


def check_tapes(tapes: NDArray[np.void]) -> None:
    """Raise unless every draw of a tape is one that kernels can play; whether it fits the game shows in the replay."""
    check_ranges("tape", tapes)


def check_ranges(what: str, values: NDArray[np.void]) -> None:
    """Raise unless every field of every record, `what` names its kind, lies in its range."""
    for table, start, lows, highs in _tables(what, values):
        row = first_row_outside(table, start, lows, highs)
        if row >= 0:
            raise UserError(str(_first_outside(what, values.reshape(-1), row)))


def _tables(what: str, values: NDArray[np.void]) -> Iterator[tuple[NDArray[Any], int, NDArray[Any], NDArray[Any]]]:
    """Yield the records as a table of numbers, once for each size, with the ranges of the columns from a start on."""
    for number, start, lows, highs in _bounds(what):
        columns = values.dtype.itemsize // number.itemsize
        yield np.ascontiguousarray(values).view(number).reshape(-1, columns), start, lows, highs


@cache
def _bounds(what: str) -> list[tuple[np.dtype[Any], int, NDArray[Any], NDArray[Any]]]:
    """Return for each size of number: its type, the place of the first in a record, and all their ranges."""
    dtype, ranges = _RANGES[what]
    found = []
    for letter in ("f8", "i4", "i2", "i1"):
        number = np.dtype(letter)
        places, lows, highs = [], [], []
        for name in dtype.names or ():
            field, offset = dtype[name], dtype.fields[name][1]  # type: ignore[index]
            if field.base.itemsize != number.itemsize:
                continue
            info: Any = np.finfo(number) if number.kind == "f" else np.iinfo(number)
            count = field.itemsize // number.itemsize
            places.append(offset // number.itemsize)
            lows += [max(ranges[name][0], info.min)] * count
            highs += [min(ranges[name][1], info.max)] * count
        if lows:
            found.append((number, min(places), np.array(lows, number), np.array(highs, number)))
    return found


def _first_outside(what: str, values: NDArray[np.void], row: int) -> str | None:
    """Say which field of a record is out of its range, if one is."""
    for name, (low, high) in _RANGES[what][1].items():
        numbers = np.atleast_1d(values[row][name])
        wrong = ~((numbers >= low) & (numbers <= high))
        if wrong.any():
            limits = "a finite number" if (low, high) == FINITE else f"from {low:g} to {high:g}"
            return f"{name} of {what} {row} is {numbers[wrong].flat[0]}; it must be {limits}."
    return None
