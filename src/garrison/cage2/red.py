"""How the scripted attackers choose their next action (rules §8)."""

from garrison.cage2.attack import is_known
from garrison.cage2.details import shuffle_addresses, shuffle_hosts
from garrison.cage2.layout import Record
from garrison.cage2.names import NUM_HOSTS, NUM_SUBNETS, Host, Red, RedKind, Subnet, Success
from garrison.cage2.rng import draw_address, draw_bline_target, draw_host
from garrison.jit import kernel

# B_line's state after a failure in each state.
JUMP = (0, 1, 2, 2, 2, 2, 5, 5, 5, 5, 9, 9, 9, 12, 13)
LAST_STATE = 14
EXPLOIT_SERVER_STATE = 12

BLINE_TARGETS = (1 << Host.USER1) | (1 << Host.USER2) | (1 << Host.USER3) | (1 << Host.USER4)
OP_HOSTS = (1 << Host.OP_HOST0) | (1 << Host.OP_HOST1) | (1 << Host.OP_HOST2) | (1 << Host.OP_SERVER0)
ENTERPRISE_HOSTS = (1 << Host.ENTERPRISE0) | (1 << Host.ENTERPRISE1) | (1 << Host.ENTERPRISE2)


@kernel
def choose_red_action(
    env: Record, sc: Record, tape: Record, details: Record, kind: int, target: int
) -> tuple[int, int]:
    """Return Red's next action and its target; `kind` and `target` are what an external attacker wants."""
    if env.red == Red.BLINE:
        return bline(env, sc, tape, details)
    if env.red == Red.MEANDER:
        return meander(env, tape, details)
    if env.red == Red.EXTERNAL:
        return (kind, target) if is_known(env, kind, target) else (RedKind.INVALID, target)
    return RedKind.SLEEP, -1


@kernel
def bline(env: Record, sc: Record, tape: Record, details: Record) -> tuple[int, int]:
    """Walk the shortest path to Op_Server0; a failure falls back to an earlier state."""
    s = bline_next(int(env.bline_state), env.red_success == Success.YES)
    is_new = (int(env.bline_seen) >> s) & 1 == 0
    if s == EXPLOIT_SERVER_STATE and is_new and not env.red_answered:
        # The scan of Op_Server0 "succeeded" without an answer: start over and read the same success again.
        s = bline_next(0, env.red_success == Success.YES)
    env.bline_state = s
    env.bline_seen = int(env.bline_seen) | (1 << s)
    if s == 1 and env.bline_user < 0:
        env.bline_user = draw_bline_target(env, tape, details, BLINE_TARGETS)
    return _bline_action(env, sc, s)


@kernel
def bline_next(s: int, succeeded: bool) -> int:
    """Return the state that follows on an action's success or failure."""
    return min(s + 1, LAST_STATE) if succeeded else JUMP[s]


@kernel
def _bline_action(env: Record, sc: Record, s: int) -> tuple[int, int]:
    user = int(env.bline_user)
    if s == 0:
        return RedKind.SWEEP, Subnet.USER
    if s == 1:
        return RedKind.SCAN, user
    if s == 2:
        return RedKind.EXPLOIT, user
    if s == 3:
        return RedKind.ESCALATE, user
    if s == 4:
        return RedKind.SCAN, int(sc.reveals[user])
    if s == 5:
        return RedKind.EXPLOIT, int(sc.reveals[user])
    if s == 6:
        return RedKind.ESCALATE, int(sc.reveals[user])
    if s == 7:
        return RedKind.SWEEP, Subnet.ENTERPRISE
    if s == 8:
        return RedKind.SCAN, Host.ENTERPRISE2
    if s == 9:
        return RedKind.EXPLOIT, Host.ENTERPRISE2
    if s == 10:
        return RedKind.ESCALATE, Host.ENTERPRISE2
    if s == 11:
        return RedKind.SCAN, Host.OP_SERVER0
    if s == EXPLOIT_SERVER_STATE:
        return RedKind.EXPLOIT, Host.OP_SERVER0
    if s == 13:
        return RedKind.ESCALATE, Host.OP_SERVER0
    return RedKind.IMPACT, Host.OP_SERVER0


@kernel
def meander(env: Record, tape: Record, details: Record) -> tuple[int, int]:
    """Sweep, scan, escalate and exploit whatever is next, everywhere."""
    meander_learn(env)
    if (int(env.escalated) >> Host.OP_SERVER0) & 1:
        env.last_owned = Host.OP_SERVER0
        return RedKind.IMPACT, Host.OP_SERVER0
    for subnet in range(NUM_SUBNETS):
        if env.known_subnet[subnet] and (int(env.swept) >> subnet) & 1 == 0:
            env.swept = int(env.swept) | (1 << subnet)
            return RedKind.SWEEP, subnet
    addresses = 0
    hosts = 0
    for h in range(NUM_HOSTS):
        addresses |= int(env.known_address[h]) << h
        hosts |= int(env.known_host[h]) << h
    unscanned = addresses & ~int(env.scanned)
    if details is not None:
        shuffle_addresses(details)  # also where none is left to scan
    if unscanned != 0:
        h = draw_address(env, tape, details, unscanned)
        env.scanned = int(env.scanned) | (1 << h)
        return RedKind.SCAN, h
    waiting = hosts & ~int(env.escalated) & (~int(env.mapped) | int(env.exploited))
    if details is not None:
        shuffle_hosts(details)
    if waiting != 0:
        h = draw_host(env, tape, details, waiting)
        env.escalated = int(env.escalated) | (1 << h)
        env.last_owned = h
        return RedKind.ESCALATE, h
    unexploited = addresses & ~int(env.exploited)
    if unexploited != 0:
        h = draw_address(env, tape, details, unexploited)
        env.exploited = int(env.exploited) | (1 << h)
        env.last_exploited = h
        return RedKind.EXPLOIT, h
    return RedKind.SLEEP, -1  # CybORG raises an exception here; no episode was ever seen to reach it


@kernel
def meander_learn(env: Record) -> None:
    """Read the outcome of the last action: a failed exploit makes Meander forget a whole subnet of its hosts."""
    if env.last_exploited >= 0:
        bit = 1 << int(env.last_exploited)
        if env.red_success == Success.YES:
            env.mapped = int(env.mapped) | bit
        else:
            lost = int(env.escalated) & OP_HOSTS
            if lost == 0:
                lost = int(env.escalated) & ENTERPRISE_HOSTS
            env.escalated = int(env.escalated) & ~lost
            env.exploited = int(env.exploited) & ~(lost | bit)
        env.last_exploited = -1
    if env.last_owned >= 0:
        bit = 1 << int(env.last_owned)
        if env.red_success == Success.NO:
            env.escalated = int(env.escalated) & ~bit
            if int(env.mapped) & bit:
                env.exploited = int(env.exploited) & ~bit
        env.last_owned = -1
