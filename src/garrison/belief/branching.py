"""Everything that one step can do to a state, each outcome with its probability: the simulator run on every draw.

A step of CAGE-2 draws little: which host Red turns to, which exploit it tries, whether Blue notices the shell, and
which session an escalation lifts. Every value of a draw is put on a tape (`garrison.cage2.layout.TAPE`). The simulator
itself says which values are on offer: what is not plays like something that is.

Most outcomes do not show what Blue was shown, so that is looked at first, before a state is copied or compared.

One draw is left out: that a new process gets an id which was once reported to Blue (quirk Q14, one in ten thousand).
"""

import numpy as np
from numpy.typing import NDArray

from garrison.belief.merging import States
from garrison.cage2.attack import attack, choose_exploit
from garrison.cage2.defend import defend
from garrison.cage2.layout import Record
from garrison.cage2.names import NUM_EXPLOITS, NUM_HOSTS, Access, RedKind, Source
from garrison.cage2.observe import BITS_PER_HOST, NUM_BITS, notice, write_observation
from garrison.cage2.red import choose_red_action
from garrison.cage2.rng import count_bits
from garrison.jit import kernel

# Places of the states at work: after Blue's action, after Red's choice, after what that does; then those that fit.
BEFORE, CHOSEN, PLAYED, FITTING = 0, 1, 2, 3
LOWEST = -1  # an aim: the lowest of the hosts on offer, or whatever comes where nothing is drawn
NOBODY, SEVERAL = -1, -2

SIGHT = np.dtype(
    [
        ("shown", "i1", NUM_BITS),  # what Blue was shown
        ("active", "i8"),  # the host on which it was shown an event; `NOBODY`, `SEVERAL`
        ("allowed", "i8"),  # by how many bits an outcome may differ from that
        ("bits", "i1", NUM_BITS),  # what an outcome shows
        ("fitting", "i8"),  # how many outcomes of this state fit; more than there is room for are only counted
        ("aims", "i8", NUM_HOSTS),  # values of the draw of a target
    ],
    align=True,
)
"""What outcomes are held against, and what is found.

It is a record, and kernels below take one array and no tuple of them: Numba counts the users of each array at each
call, which would take longer than to play an outcome.
"""


@kernel
def look(sight: Record, shown: NDArray[np.int8], allowed: int) -> None:
    """Hold outcomes against what was shown from now on."""
    sight.allowed = allowed
    sight.active = NOBODY
    for k in range(NUM_BITS):
        sight.shown[k] = shown[k]
    for h in range(NUM_HOSTS):
        if shown[BITS_PER_HOST * h] != 0:
            sight.active = h if sight.active == NOBODY else SEVERAL


@kernel
def branch(states: States, tape: Record, sight: Record, sc: Record, weight: float, action: int) -> int:
    """Find what can come of Blue's action and Red's turn in `states[BEFORE]` and shows what was shown.

    It is left in `states` from `FITTING` on, with its share of the weight in `total`, which nobody looks at. Returns by
    how many bits the nearest outcome differs; those that were not looked at closely count as `NUM_BITS`.
    """
    sight.fitting = 0
    before = states[BEFORE]
    before.source = Source.TAPE
    defend(before, sc, None, action)
    nearest = NUM_BITS
    aims = _find_aims(states, tape, sight, sc)
    share = weight / aims
    for i in range(aims):
        if i > 0 and sight.allowed == 0 and sight.active >= 0 and sight.aims[i] != sight.active:
            continue  # Blue sees events on Red's target only
        kind, target = _choose(states, tape, sc, int(sight.aims[i]))
        if kind == RedKind.EXPLOIT:
            found = _branch_exploits(states, tape, sight, sc, share, target)
        elif kind == RedKind.ESCALATE and before.access[target] == Access.USER:
            found = _branch_escalation(states, tape, sight, sc, share, target)
        else:
            found = _play(states, tape, sight, sc, share, kind, target)
        nearest = min(nearest, found)
    return nearest


@kernel
def _find_aims(states: States, tape: Record, sight: Record, sc: Record) -> int:
    """Write the values of the draw of a target, all equally likely, and return how many there are.

    A host that is on offer is taken when the draw falls on it, any other never is.
    """
    sight.aims[0] = LOWEST
    aims = 1
    _, lowest = _choose(states, tape, sc, LOWEST)
    for h in range(lowest + 1, NUM_HOSTS):
        _, target = _choose(states, tape, sc, h)
        if target == h:
            sight.aims[aims] = h
            aims += 1
    return aims


@kernel
def _choose(states: States, tape: Record, sc: Record, aim: int) -> tuple[int, int]:
    """Let Red choose its action, with the draw of a target falling on `aim`; return the action and its target."""
    tape.bline_target = aim
    tape.address_order[0] = aim
    tape.host_order[0] = aim
    states[CHOSEN] = states[BEFORE]
    return choose_red_action(states[CHOSEN], sc, tape, None, 0, -1)


@kernel
def _branch_exploits(states: States, tape: Record, sight: Record, sc: Record, weight: float, target: int) -> int:
    """Branch over the exploit that Red tries on its target: its favourite, or one of the others."""
    chosen = states[CHOSEN]
    top = choose_exploit(chosen, sc, tape, None, target)
    others = 0
    tape.exploit_top = 0
    for e in range(NUM_EXPLOITS):
        tape.exploit_other = e
        if e != top and choose_exploit(chosen, sc, tape, None, target) == e:
            others |= 1 << e
    tape.exploit_top = 1
    if others == 0:
        return _branch_shell(states, tape, sight, sc, weight, target)
    nearest = _branch_shell(states, tape, sight, sc, weight * sc.top_odds, target)
    odds = (1.0 - sc.top_odds) / count_bits(others)
    tape.exploit_top = 0
    for e in range(NUM_EXPLOITS):
        if (others >> e) & 1:
            tape.exploit_other = e
            nearest = min(nearest, _branch_shell(states, tape, sight, sc, weight * odds, target))
    tape.exploit_top = 1
    return nearest


@kernel
def _branch_shell(states: States, tape: Record, sight: Record, sc: Record, weight: float, target: int) -> int:
    """Branch over whether Blue notices the shell, if the exploit on the tape opens one."""
    nearest = _play(states, tape, sight, sc, weight, RedKind.EXPLOIT, target)
    if states[PLAYED].event_shell:
        tape.detected = 0
        unnoticed = weight * (1.0 - sc.detect_rate)
        nearest = min(nearest, _play(states, tape, sight, sc, unnoticed, RedKind.EXPLOIT, target))
        tape.detected = 1
    return nearest


@kernel
def _branch_escalation(states: States, tape: Record, sight: Record, sc: Record, weight: float, target: int) -> int:
    """Branch over the session that an escalation lifts."""
    before = states[BEFORE]
    sessions = int(before.sessions[target])
    fixed = int(before.lead[target]) + int(before.hidden[target])
    nearest = NUM_BITS
    for index in range(sessions):
        tape.session_index = index
        tape.session_removable = index >= fixed  # as the stream's draws have it
        found = _play(states, tape, sight, sc, weight / sessions, RedKind.ESCALATE, target)
        nearest = min(nearest, found)
    return nearest


@kernel
def _play(states: States, tape: Record, sight: Record, sc: Record, weight: float, kind: int, target: int) -> int:
    """Carry out Red's action and keep the outcome if it fits; return by how many bits it differs."""
    states[PLAYED] = states[CHOSEN]
    env = states[PLAYED]
    attack(env, sc, tape, None, kind, target)
    notice(env, sc)
    if sight.allowed == 0 and env.active_host != sight.active:
        return NUM_BITS
    write_observation(env, sight.bits)
    differing = 0
    for k in range(NUM_BITS):
        differing += sight.bits[k] != sight.shown[k]
    if differing <= sight.allowed:
        place = FITTING + sight.fitting
        sight.fitting += 1
        if place < len(states):
            env.source = Source.STREAM
            env.total = weight * sc.detect_rate if env.event_shell else weight
            states[place] = env
    return differing
