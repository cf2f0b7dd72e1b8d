"""The records that kernels work on: the state of one environment, the scenario, one step of a tape, CybORG's details.

One environment is one aligned record and a batch is an array of them, so a step touches one stretch of memory and the
true state is a view, not a query.

Red's sessions (rules §3) are kept as counts instead of lists. Only these facts about the list on a host can ever be
seen: how many sessions of each kind there are, the level of the oldest one, and which kind an escalation picks. A
session is *removable* (user level, its process was reported to Blue), *hidden* (user level, never reported) or
privileged; the latter two are *fixed*: Remove does not touch them. Escalation happens only while nothing is privileged
and ends that, and Remove takes all removable sessions at once. So beyond the counts it is enough to know the level of
the oldest fixed session and how many removable ones are older (`lead`).

All integers are signed: Numba turns a mix of signed and unsigned 64-bit numbers into floats.
"""

from typing import Any, TypeAlias

import numpy as np

from garrison.cage2.names import NUM_ACTIONS, NUM_DECOYS, NUM_EXPLOITS, NUM_HOSTS, NUM_REDS, NUM_SUBNETS

Record: TypeAlias = Any  # an element of an array of the dtypes below; Numba and NumPy both give attribute access

# The terms of a step's reward: one for each host that Red holds, the stopped service, Blue's action.
SERVICE_TERM = NUM_HOSTS
ACTION_TERM = NUM_HOSTS + 1
NUM_TERMS = NUM_HOSTS + 2

NUM_WATCHED = 8  # hosts whose history a defender can remember (defender_history.py)
NUM_PAST_EVENTS = 4
NUM_UNITS = 5  # types of hosts that a workflow puts in order (workflow.py)
MAX_LENGTH = 2**15 - 1  # a step adds at most one session, decoy or report, so no count below can overflow

# What `DETAILS` has room for.
GENERATOR_WORDS = 624  # of Python's generator
NUM_FIRST_SESSIONS = 23  # of all sides, after a reset
MAX_DETAILED_LENGTH = 2048  # steps of an episode: each adds at most a session, a decoy and a report
MAX_PROCESSES = 2 * MAX_DETAILED_LENGTH + 1
MAX_REPORTS = MAX_DETAILED_LENGTH
MAX_DRAWN = 1024
FIRST_PORT, NUM_PORTS = 49152, 60000 - 49152  # the ephemeral ones


def _without_gaps(fields: list[tuple[Any, ...]]) -> np.dtype[np.void]:
    """Return an aligned record that has no hidden bytes between its fields, so that equal states are equal bytes."""
    widest_first = sorted(fields, key=lambda field: -np.dtype(field[1]).itemsize)
    filled = sum(np.dtype([field]).itemsize for field in fields)
    return np.dtype([*widest_first, ("unused", "i1", -filled % 8)], align=True)


_MEMORY: list[tuple[Any, ...]] = [
    # --- what a defender can remember: kept up to date only where the observation needs it (defender_memory.py)
    ("clock", "i2"),  # steps taken
    ("scan_seen", "i2"),  # mask of hosts
    ("exploit_seen", "i2"),  # mask of hosts, since their last Restore
    ("first_scan", "i1"),  # host, -1: none yet
    ("last_event", "i1"),  # host of the last scan or exploit seen, -1: none yet
    ("last_was_exploit", "i1"),
    ("since_event", "i2"),  # steps since then
    ("own_restores", "i2"),  # mask of hosts that Blue restored
    ("own_ports", "i2", NUM_HOSTS),  # listening ports by Blue's own book-keeping
    ("own_decoys", "i2", NUM_HOSTS),  # mask of decoys in place
    ("suspect", "i1"),  # Suspect: who Red seems to be
]
_HISTORY: list[tuple[Any, ...]] = [
    # --- when it happened: kept up to date only for the observation `history` (defender_history.py)
    ("event_fresh", "i1", NUM_WATCHED),  # steps until it is forgotten that something was seen on the host
    ("restore_fresh", "i1", NUM_WATCHED),  # the same for Blue's last Restore
    ("remove_fresh", "i1", NUM_WATCHED),  # and its last Remove
    ("exploits_seen", "i1", NUM_WATCHED),  # in this episode
    ("own_action", "i2"),  # Blue's last
    ("past_events", "i1", NUM_PAST_EVENTS),  # what was seen in this step and those before, 0: nothing
]

MEMORY = _without_gaps([*_MEMORY, *_HISTORY])

_COMPLIANCE: list[tuple[Any, ...]] = [
    # --- how a workflow is followed: kept only where there is one (compliance.py)
    ("order", "i1", NUM_UNITS),  # unit types, the most urgent first
    ("next_order", "i1", NUM_UNITS),  # the order from the next reset on
    ("env_reward", "f8"),  # the two parts of the last step's reward
    ("alignment", "f8"),
    ("fixes", "i4"),  # in this episode
    ("compliant", "i4"),  # of these
    ("fixed", "i2"),  # mask of all hosts of the unit types that were the target of a fix
    ("rate", "f8"),  # compliant / fixes
    ("alignment_total", "f8"),  # alignment reward so far
    ("last_fixes", "i4"),  # and of the episode that ended last
    ("last_compliant", "i4"),
    ("last_rate", "f8"),
    ("last_alignment_total", "f8"),
]

_STATE: list[tuple[Any, ...]] = [
    # --- the episode
    ("reward_terms", "f8", NUM_TERMS),  # last step, see above; their sum is the reward
    ("total", "f8"),  # reward so far
    ("last_total", "f8"),  # reward of the episode that ended last
    ("last_length", "i4"),  # and its number of steps
    ("t", "i4"),  # steps taken
    ("length", "i4"),  # steps after which the episode is truncated
    ("done", "i1"),  # truncated, waiting for a reset
    ("source", "i1"),  # Source: where the draws come from
    ("stream", "u4", 4),  # state of the generator
    # --- Red's sessions, per host
    ("access", "i1", NUM_HOSTS),  # Access of the best session
    ("access_oldest", "i1", NUM_HOSTS),  # Access of the oldest session: all that CybORG's true table shows
    ("held", "i2"),  # mask of the hosts with a session
    ("sessions", "i2", NUM_HOSTS),  # number of sessions
    ("removable", "i2", NUM_HOSTS),  # of these: user level and reported
    ("hidden", "i2", NUM_HOSTS),  # of these: user level and never reported
    ("lead", "i2", NUM_HOSTS),  # removable sessions older than every fixed one
    ("oldest_fixed", "i1", NUM_HOSTS),  # Access of the oldest session that Remove does not touch
    ("reported", "i2", NUM_HOSTS),  # privileged sessions whose process was reported
    ("stale", "i2", NUM_HOSTS),  # reported process ids that are free again (quirk Q14)
    # --- the hosts
    ("malware", "i1", NUM_HOSTS),  # a file that Analyse would find
    ("decoys", "i2", (NUM_HOSTS, NUM_DECOYS)),  # number of each decoy
    ("ports", "i2", NUM_HOSTS),  # mask of listening ports, image and decoys
    ("sockets", "i2", NUM_HOSTS),  # number of listening sockets: a port may be open twice
    ("patched", "i1", NUM_HOSTS),  # restored under rules where that breaks an exploit
    # --- the OTService of Op_Server0
    ("ot_running", "i1"),
    ("ot_stoppable", "i1"),  # its registered process id is valid; no longer after a Restore (quirk Q1)
    ("ot_active", "i1"),  # the registry says active
    ("ot_known", "i1"),  # Red knows the service
    # --- Red
    ("red", "i1"),  # Red: who plays this episode
    ("red_ports", "i2", NUM_HOSTS),  # ports at the last answered scan, -1 before the first
    ("known_address", "i1", NUM_HOSTS),
    ("known_host", "i1", NUM_HOSTS),
    ("known_subnet", "i1", NUM_SUBNETS),
    ("red_kind", "i1"),  # RedKind of the last action
    ("red_target", "i1"),  # its host; for a sweep its subnet; -1 for Sleep
    ("red_exploit", "i1"),  # the exploit it chose, -1 if none
    ("red_success", "i1"),  # Success
    ("red_answered", "i1"),  # whether the answer held anything (B_line looks at this once)
    ("bline_state", "i1"),
    ("bline_seen", "i2"),  # mask of the states whose action is memorised
    ("bline_user", "i1"),  # the user host it drew, -1 before
    ("swept", "i1"),  # Meander: mask of subnets
    ("scanned", "i2"),  # Meander: masks of hosts
    ("exploited", "i2"),
    ("escalated", "i2"),
    ("mapped", "i2"),  # hosts whose last exploit succeeded; also of attackers that are not scripted
    ("last_exploited", "i1"),  # Meander: target of the last action if that was an exploit, else -1
    ("last_owned", "i1"),  # Meander: target of the last action if that was an escalate or Impact, else -1;
    # elsewhere: which attacker of a `RedMixture` plays
    # --- what happened in this step
    ("blue_action", "i2"),
    ("blue_success", "i1"),  # Success
    ("placed", "i1"),  # host on which a decoy was accepted, else -1
    ("found", "i1"),  # Analyse found malware
    ("events", "i2"),  # Red's events on its target
    ("event_ports", "i1"),  # distinct local ports among them
    ("event_shell", "i1"),  # one of them is a reverse shell that Blue detected
    # --- what Blue sees
    ("belief", "i1", NUM_HOSTS),  # Belief
    ("activity", "i1"),  # Activity on the host below, in this step
    ("active_host", "i1"),  # -1: none
    *_MEMORY,
    *_HISTORY,
    *_COMPLIANCE,
]

STATE = _without_gaps(_STATE)
STATE_BEFORE_HISTORY = _without_gaps([field for field in _STATE if field not in _HISTORY])
"""As states were saved by versions that had no `history`: still read"""

SCENARIO = _without_gaps(
    [
        # --- per host
        ("subnet", "i1", NUM_HOSTS),
        ("windows", "i1", NUM_HOSTS),
        ("confidentiality", "f8", NUM_HOSTS),  # cost of a step in which Red holds the host privileged
        ("image_ports", "i2", NUM_HOSTS),  # mask of the ports that the image listens on
        ("image_sockets", "i1", NUM_HOSTS),
        ("genuine", "i1", (NUM_HOSTS, NUM_EXPLOITS)),  # Genuine: what the exploit does on the image's own process
        ("reveals", "i1", NUM_HOSTS),  # host whose address an escalation tells Red, -1: none
        ("foothold", "i1"),  # host of Red's first session
        ("service_host", "i1"),  # host of the OTService
        ("service_cost", "f8"),  # cost of a step in which it is down
        ("restore_cost", "f8"),
        ("gateways", "i2", NUM_SUBNETS),  # mask: Red needs a session on one of these to reach the subnet; 0: always
        # --- exploits
        ("needs", "i2", NUM_EXPLOITS),  # mask of ports that must all be in Red's list
        ("needs_any", "i2", NUM_EXPLOITS),  # mask of ports of which one must be; 0: none
        ("weight", "f8", NUM_EXPLOITS),  # the largest is the top choice
        ("brute_force", "i1", NUM_EXPLOITS),  # guesses a password: noisy, leaves no file, never reported
        ("top_odds", "f8"),
        ("detect_rate", "f8"),  # of reverse shells
        ("brute_force_tries", "i1"),
        ("process_ids", "i4"),  # how many there are (quirk Q14)
        # --- decoys
        ("opens", "i2", NUM_DECOYS),  # port mask
        ("checks", "i2", NUM_DECOYS),  # mask of the port that must be free
        ("only_on", "i1", NUM_DECOYS),  # 1 Windows, 0 Linux, -1 any
        ("blocks", "i1", NUM_DECOYS),  # the exploit that it answers
        # --- rules and encoder
        ("ports_accumulate", "i1"),  # a scan adds to Red's port list instead of replacing it
        ("restore_patches", "i1", NUM_EXPLOITS),  # exploits that fail noisily on a host once it was restored
        ("decoy_hides", "i1"),  # the encoder shows no activity where a decoy was placed (quirk Q7)
        # --- who plays Red
        ("red_odds", "f8", NUM_REDS),  # cumulative, by the codes of `Red`; drawn at each reset of a mixture
        # --- what Blue is shown (observation_sets.py)
        ("observation", "i1"),  # Observation; all but BITS need what a defender can remember
        ("shows_order", "i1"),  # a row ends with the workflow's order
        # --- the workflow
        ("has_workflow", "i1"),
        ("by_history", "i1"),  # fixes are judged by the fixes before, not by the true state
        ("inside", "i2"),  # mask of the hosts that count as compromised when Red holds them
        ("fix_unit", "i1", NUM_ACTIONS),  # unit type that an action fixes, -1: it is no fix
        ("alignment_weight", "f8"),
        ("step_bonus", "f8"),  # these are times the weight
        ("step_penalty", "f8"),
        ("no_fix_penalty", "f8"),
    ]
)

TAPE = _without_gaps(
    [
        ("bline_target", "i1"),  # host
        ("address_order", "i1", NUM_HOSTS),  # Meander's shuffles
        ("host_order", "i1", NUM_HOSTS),
        ("exploit_other", "i1"),
        ("exploit_top", "i1"),
        ("detected", "i1"),
        ("session_index", "i2"),  # which session an escalation lifts
        ("session_removable", "i1"),  # whether that one was removable
        ("process_id_reused", "i1"),  # the new session got a process id that was once reported (quirk Q14)
    ]
)

DETAILS = _without_gaps(
    [
        # What CybORG also keeps and draws: only where the draws are CybORG's own (Source.CYBORG, details.py).
        ("generator", "u4", GENERATOR_WORDS),  # Python's: its words,
        ("position", "i4"),  # and how many of them were used
        # --- drawn at the reset
        ("addresses", "i4", NUM_HOSTS),  # 10.0.0.0 plus this
        ("subnets", "i4", NUM_SUBNETS),  # the first address of each /28
        ("session_pids", "i4", NUM_FIRST_SESSIONS),  # process ids of `FIRST_SESSIONS`
        # --- Red's sessions and the decoys, everywhere, in order of creation; the first is Red's first session
        ("process_count", "i4"),
        ("process_host", "i1", MAX_PROCESSES),
        ("process_pid", "i2", MAX_PROCESSES),
        ("process_decoy", "i1", MAX_PROCESSES),  # which decoy, -1: a session
        ("process_level", "i1", MAX_PROCESSES),  # Access of a session
        ("registered", "i2", (NUM_HOSTS, NUM_DECOYS)),  # process id by which a decoy was first registered, 0: none
        # --- process ids that Blue was told, everywhere, in order; one may come twice
        ("report_count", "i4"),
        ("report_host", "i1", MAX_REPORTS),
        ("report_pid", "i2", MAX_REPORTS),
        # --- a bit for each ephemeral port that was used on a host since its last Restore
        ("used_ports", "u1", (NUM_HOSTS, (NUM_PORTS + 7) // 8)),
        # --- what is drawn in this step
        ("named_exploit", "i1"),  # the exploit that an attacker of `Turns` names; -1 lets it be drawn
        ("new_pid", "i2"),  # the process id that was drawn last
        ("address_order", "i1", NUM_HOSTS),  # Meander's shuffles
        ("host_order", "i1", NUM_HOSTS),
        ("drawn", "i4", MAX_DRAWN),  # process ids and ephemeral ports that came to be used, in order
        ("drawn_count", "i4"),  # beyond MAX_DRAWN they are only counted
        ("lifted", "i2"),  # place of the session that an escalation lifted among those of its host, else -1
    ]
)

DETAILED_STATE = _without_gaps(  # both records of such an environment in one, to be saved
    [
        (name, dtype[name].base, dtype[name].shape)
        for dtype in (STATE, DETAILS)
        for name in dtype.names or ()
        if name != "unused"
    ]
)
