"""Everything that can come of Red's turn in a state, with its probability: the compiled simulator run on every draw.

Red's turn is a draw of a target, then perhaps Blue's choice of Red's list of ports (a present, see `positions`), then
the draws of the exploit and of what Blue notices. The simulator itself says which draws matter: it is given each on a
tape.
"""

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.attack import attack, choose_exploit
from garrison.cage2.layout import Record
from garrison.cage2.names import NUM_EXPLOITS, NUM_HOSTS, Host, Red, RedKind, Source
from garrison.cage2.red import choose_red_action
from garrison.cage2.rng import count_bits
from garrison.jit import kernel
from garrison.limit.positions import HIDDEN, hold_on, pack

LONGEST = 100
"""Steps of the longest episodes that the values are for."""
REUSE = LONGEST / 32767
"""At least the probability that a new session's process id was reported to Blue before, so that Remove kills it too.

That is the number of free reported ids, of which a step makes at most one, over the number of all ids. A removable
session is never worse for Blue than a hidden one: Blue can play as if it were hidden.
"""

AS_IT_IS = -2  # no list: those of a host are masks, or -1 before it was scanned

MAX_BRANCHES = 8  # an exploit fails, or its host is held in one of three ways: there are at most 4
MAX_ALTERNATIVES = 6
MAX_TARGETS = NUM_HOSTS

OUTCOMES = np.dtype(
    [
        ("targets", np.int64),
        ("host", np.int64, MAX_TARGETS),
        ("odds", np.float64, MAX_TARGETS),
        ("alternatives", np.int64, MAX_TARGETS),
        ("branches", np.int64, (MAX_TARGETS, MAX_ALTERNATIVES)),
        ("first", np.int64, (MAX_TARGETS, MAX_ALTERNATIVES, MAX_BRANCHES)),
        ("second", np.int64, (MAX_TARGETS, MAX_ALTERNATIVES, MAX_BRANCHES)),
        ("probability", np.float64, (MAX_TARGETS, MAX_ALTERNATIVES, MAX_BRANCHES)),
    ]
)
"""Targets; for each the lists among which Blue may choose; for each the positions that can follow, and how likely."""


@kernel
def find_outcomes(
    state: NDArray[np.void],
    scratch: NDArray[np.void],
    sc: Record,
    tables: Record,
    tape: Record,
    gifts: bool,
    out: Record,
) -> None:
    """Write what can come of Red's turn in `state[0]`, in which Blue has already acted; `scratch` is a place to try.

    Without `gifts` Red's lists are what they are, and process ids come back only where one was reported.
    """
    kind = _find_targets(state, scratch, sc, tape, out)
    for i in range(out.targets):
        target = int(out.host[i])
        _aim(tape, target)
        free = gifts and _is_free(state[0], tables, kind, target)
        out.alternatives[i] = tables.count[target] if free else 1
        for a in range(out.alternatives[i]):
            chosen = int(tables.choices[target, a]) if free else AS_IT_IS
            _find_branches(state, scratch, sc, tables, tape, kind, target, chosen, gifts, out, i, a)


@kernel
def _aim(tape: Record, target: int) -> None:
    """Let the draw of a target fall on this host, if there is such a draw."""
    tape.bline_target = target
    for h in range(NUM_HOSTS):
        tape.address_order[h] = -1
        tape.host_order[h] = -1
    tape.address_order[0] = target
    tape.host_order[0] = target


@kernel
def _find_targets(state: NDArray[np.void], scratch: NDArray[np.void], sc: Record, tape: Record, out: Record) -> int:
    """Find the targets that can be drawn, all equally likely, and return what Red does to them.

    A host that can be drawn is taken when the draw falls on it, any other never is.
    """
    kind = 0
    out.targets = 0
    for h in range(NUM_HOSTS):
        scratch[0] = state[0]
        env = scratch[0]
        env.source = Source.TAPE
        _aim(tape, h)
        kind, target = choose_red_action(env, sc, tape, None, 0, -1)
        if kind in (RedKind.SWEEP, RedKind.SLEEP) or (env.red == Red.BLINE and state[0].bline_user >= 0):
            out.host[0] = target  # nothing was drawn
            out.targets = 1
            break
        if target == h:
            out.host[out.targets] = h
            out.targets += 1
    for i in range(out.targets):
        out.odds[i] = 1.0 / out.targets
    return kind


@kernel
def _is_free(env: Record, tables: Record, kind: int, target: int) -> bool:
    """Return whether Blue may choose Red's list of this host now."""
    if kind == RedKind.EXPLOIT:
        listed = Host.USER1 <= target < Host.USER1 + tables.listed
        return bool(env.red_ports[target] >= 0 and (target == Host.OP_SERVER0 if env.red == Red.BLINE else not listed))
    return bool(kind == RedKind.SCAN and env.red == Red.BLINE and target >= Host.USER1 and env.red_ports[target] >= 0)


@kernel
def _copy(state: NDArray[np.void], scratch: NDArray[np.void], target: int, chosen: int) -> None:
    """Copy the state to where its future can be tried, with the list `chosen` unless it is `AS_IT_IS`."""
    scratch[0] = state[0]
    scratch[0].source = Source.TAPE
    if chosen != AS_IT_IS:
        scratch[0].red_ports[target] = chosen
        scratch[0].ports[target] = chosen


@kernel
def _find_exploits(
    state: NDArray[np.void], scratch: NDArray[np.void], sc: Record, tape: Record, target: int, chosen: int
) -> int:
    """Return the mask of the exploits that can be drawn beside the likeliest one; 0 where nothing is drawn."""
    _copy(state, scratch, target, chosen)
    tape.exploit_top = 1
    top = choose_exploit(scratch[0], sc, tape, None, target)
    tape.exploit_top = 0
    others = 0
    for e in range(NUM_EXPLOITS):
        tape.exploit_other = e
        if e != top and choose_exploit(scratch[0], sc, tape, None, target) == e:
            others |= 1 << e
    return others


@kernel
def _find_branches(
    state: NDArray[np.void],
    scratch: NDArray[np.void],
    sc: Record,
    tables: Record,
    tape: Record,
    kind: int,
    target: int,
    chosen: int,
    gifts: bool,
    out: Record,
    i: int,
    a: int,
) -> None:
    """Find the branches of every draw behind that of the target: the exploit, whether Blue notices, the process id."""
    out.branches[i, a] = 0
    others = 0
    if kind == RedKind.EXPLOIT:
        others = _find_exploits(state, scratch, sc, tape, target, chosen)
    rest = count_bits(others)
    before = int(state[0].sessions[target]) if kind == RedKind.EXPLOIT else 0
    reuse = 0.0
    if kind == RedKind.EXPLOIT and tables.reportable[target]:
        reuse = REUSE if gifts else float(state[0].stale[target]) / sc.process_ids
    for e in range(NUM_EXPLOITS + 1):
        is_top = e == NUM_EXPLOITS
        if not is_top and (others >> e) & 1 == 0:
            continue
        share = 1.0 if rest == 0 else float(sc.top_odds) if is_top else (1.0 - sc.top_odds) / rest
        for detected in range(2):
            p = share * (sc.detect_rate if detected else 1.0 - sc.detect_rate)
            for reused in range(2):
                _copy(state, scratch, target, chosen)
                env = scratch[0]
                tape.exploit_top = is_top
                tape.exploit_other = e
                tape.detected = detected
                tape.process_id_reused = reused
                if reused:
                    env.stale[target] = max(1, env.stale[target])
                _, _ = choose_red_action(env, sc, tape, None, 0, -1)
                attack(env, sc, tape, None, kind, target)
                if not reused:
                    hidden = reuse > 0.0 and env.sessions[target] > before and hold_on(env, target) == HIDDEN
                    _add(env, sc, tables, p * (1.0 - reuse) if hidden else p, out, i, a)
                    if not hidden:
                        break
                else:
                    _add(env, sc, tables, p * reuse, out, i, a)


@kernel
def _add(env: Record, sc: Record, tables: Record, probability: float, out: Record, i: int, a: int) -> None:
    """Add a branch, to an earlier one with the same position if there is one."""
    first, second = pack(env, sc, tables)
    n = int(out.branches[i, a])
    for b in range(n):
        if out.first[i, a, b] == first and out.second[i, a, b] == second:
            out.probability[i, a, b] += probability
            return
    out.first[i, a, n] = first
    out.second[i, a, n] = second
    out.probability[i, a, n] = probability
    out.branches[i, a] = n + 1
