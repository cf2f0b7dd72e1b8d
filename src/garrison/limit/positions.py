"""What is left of a state when everything is dropped that can change neither Red's play nor a reward: a position.

A position is two integers. `pack` makes it from a state and `unpack` makes a state of it that stands for all states
with this position. What is dropped, and why nothing is lost by it:

* What Blue sees and remembers (beliefs, events, malware, sockets): nothing that follows depends on it.
* Of the sessions on a host only this counts: none; only removable ones; also a hidden one, which Remove leaves; a
  privileged one, which Remove leaves and which every later session changes nothing about.
* Decoys answer an exploit only where nothing genuine does, and without them it fails as well: they count only as ports
  that Red's next scan will list. Of a list only the odds that it gives to the genuine exploits count (`port_lists`).
* What Red's agent does next, instead of its last state and answer. B_line's hosts are its user host, the one that this
  reveals, Enterprise2 and Op_Server0: no other ever matters once the user host is drawn.
* Meander's notes `mapped` and `known_host` follow from `exploited`, except where they do not matter.

And what is given to Blue as a present, so that the value of a position is never below that of a state:

* Process ids: `outcomes.REUSE` says how.
* Free lists. Where a list is not part of the position, Blue may choose Red's list in the moment of an exploit, among
  all that decoys could have made; the true one is among them. For Meander these are the lists of all hosts but
  `listed` user hosts, for B_line that of Op_Server0, and that of the user host from a second scan on. Whether a scan
  was answered is kept.
* Once Meander has been privileged in the Operational subnet, the game ends for Blue (`is_over`), at the least that this
  can still cost.
"""

from garrison.cage2.layout import Record
from garrison.cage2.names import NUM_EXPLOITS, NUM_HOSTS, NUM_SUBNETS, Access, Host, Red, Subnet, Success
from garrison.cage2.red import EXPLOIT_SERVER_STATE, bline_next, meander_learn
from garrison.cage2.rng import count_bits
from garrison.cage2.sessions import add_session, clear_sessions
from garrison.cage2.step import reset
from garrison.jit import kernel

NONE, REMOVABLE, HIDDEN, PRIVILEGED = 0, 1, 2, 3  # what Red has on a host
OVER = 1 << 62
"""The first integer of the position after Blue's game has ended; the second is 0."""

OP_HOSTS = 15 << Host.OP_HOST0
# The ports that decoys can add to Enterprise0, as masks: 25, 80, 443. Each is as good as another.
LINUX_PORTS = (1 << 2, 1 << 5, 1 << 8)
FEMITTER_PORT = 1
PORT_BITS = 12
SESSION_BITS = 2 * NUM_HOSTS
COMMON_BITS = SESSION_BITS + 5


@kernel
def hold_on(env: Record, host: int) -> int:
    """Return what Red has on a host: NONE, REMOVABLE, HIDDEN or PRIVILEGED."""
    if env.sessions[host] == 0:
        return NONE
    if env.access[host] == Access.PRIVILEGED:
        return PRIVILEGED
    return HIDDEN if env.hidden[host] > 0 else REMOVABLE


@kernel
def pack(env: Record, sc: Record, tables: Record) -> tuple[int, int]:
    """Return the position of a state; Meander's state has then read its last answer, which changes nothing."""
    if env.red == Red.MEANDER:
        return _pack_meander(env, sc, tables)
    return _pack_bline(env, sc, tables)


@kernel
def unpack(first: int, second: int, env: Record, sc: Record, tables: Record) -> None:
    """Make `env` a state with this position; its `red` stays as it is."""
    reset(env, sc)
    for h in range(NUM_HOSTS):
        hold = (first >> (2 * h)) & 3
        clear_sessions(env, h, h == sc.foothold)
        if hold != NONE and h != sc.foothold:
            add_session(env, h, Access.PRIVILEGED if hold == PRIVILEGED else Access.USER, hold == REMOVABLE)
        env.stale[h] = 0
    rest = first >> SESSION_BITS
    env.ot_running = rest & 1
    env.ot_active = env.ot_running
    env.ot_stoppable = (rest >> 1) & 1
    env.ot_known = (rest >> 2) & 1
    env.patched[Host.USER3] = (rest >> 3) & 1
    env.patched[Host.USER4] = (rest >> 4) & 1
    if env.red == Red.MEANDER:
        _unpack_meander(first >> COMMON_BITS, second, env, sc, tables)
    else:
        _unpack_bline(first >> COMMON_BITS, second, env, sc)


@kernel
def _common(env: Record, sc: Record, patched3: bool, patched4: bool) -> int:
    """Return the sessions, the service and the patches as one integer of 31 bits."""
    first = 0
    for h in range(NUM_HOSTS):
        first |= hold_on(env, h) << (2 * h)
    rest = int(env.ot_running) | (int(env.ot_stoppable) << 1) | (int(env.ot_known) << 2)
    if patched3:
        rest |= int(env.patched[Host.USER3]) << 3
    if patched4:
        rest |= int(env.patched[Host.USER4]) << 4
    return first | (rest << SESSION_BITS)


@kernel
def patches(sc: Record) -> bool:
    """Return whether a Restore breaks an exploit under these rules."""
    patched = 0
    for e in range(NUM_EXPLOITS):
        patched |= int(sc.restore_patches[e])
    return patched != 0


# --- Meander


@kernel
def is_over(env: Record) -> bool:
    """Return whether Meander has been privileged in the Operational subnet: from there on the bound is a simple one."""
    return bool(env.red == Red.MEANDER and env.known_subnet[Subnet.OPERATIONAL])


@kernel
def _pack_meander(env: Record, sc: Record, tables: Record) -> tuple[int, int]:
    if is_over(env):
        return OVER, 0
    meander_learn(env)
    escalated = int(env.escalated)
    patched = patches(sc)
    first = _common(
        env,
        sc,
        patched and (escalated >> Host.USER3) & 1 == 0,  # Meander never comes back to a user host
        patched and (escalated >> Host.USER4) & 1 == 0,
    )
    addresses = 0
    answered = 0
    for h in range(NUM_HOSTS):
        addresses |= int(env.known_address[h]) << h
        if (OP_HOSTS >> h) & 1 and env.red_ports[h] >= 0:
            answered |= 1 << (h - Host.OP_HOST0)
    subnets = 0
    for s in range(NUM_SUBNETS):
        subnets |= int(env.known_subnet[s]) << s
    for i in range(tables.listed):
        h = Host.USER1 + i
        if (escalated >> h) & 1 == 0:
            ports = int(env.red_ports[h]) if (int(env.scanned) >> h) & 1 else int(env.ports[h])
            first |= int(tables.index[h, ports]) << (COMMON_BITS + 3 * i)
    second = addresses
    second |= int(env.scanned) << NUM_HOSTS
    second |= int(env.exploited) << (2 * NUM_HOSTS)
    second |= escalated << (3 * NUM_HOSTS)
    second |= answered << (4 * NUM_HOSTS)
    second |= subnets << (4 * NUM_HOSTS + 4)
    second |= int(env.swept) << (4 * NUM_HOSTS + 7)
    return first, second


@kernel
def _unpack_meander(lists: int, second: int, env: Record, sc: Record, tables: Record) -> None:
    mask = (1 << NUM_HOSTS) - 1
    addresses = second & mask
    env.scanned = (second >> NUM_HOSTS) & mask
    env.exploited = (second >> (2 * NUM_HOSTS)) & mask
    env.escalated = (second >> (3 * NUM_HOSTS)) & mask
    env.mapped = env.exploited
    answered = (second >> (4 * NUM_HOSTS)) & 15
    for h in range(NUM_HOSTS):
        env.known_address[h] = (addresses >> h) & 1
        env.known_host[h] = ((int(env.exploited) >> h) & 1) | (h == sc.foothold)
        is_op = (OP_HOSTS >> h) & 1
        if (int(env.scanned) >> h) & 1 and (not is_op or (answered >> (h - Host.OP_HOST0)) & 1):
            env.red_ports[h] = sc.image_ports[h]
    for i in range(tables.listed):
        h = Host.USER1 + i
        ports = int(tables.choices[h, (lists >> (3 * i)) & 7])
        if (int(env.scanned) >> h) & 1:
            env.red_ports[h] = ports
        else:
            env.ports[h] = ports
    for s in range(NUM_SUBNETS):
        env.known_subnet[s] = (second >> (4 * NUM_HOSTS + 4 + s)) & 1
    env.swept = (second >> (4 * NUM_HOSTS + 7)) & 7
    env.red_success = Success.YES


# --- B_line


@kernel
def coming_state(env: Record) -> int:
    """Return the state from which B_line will act next (`red.bline`)."""
    s = bline_next(int(env.bline_state), env.red_success == Success.YES)
    if s == EXPLOIT_SERVER_STATE and (int(env.bline_seen) >> s) & 1 == 0 and not env.red_answered:
        s = bline_next(0, env.red_success == Success.YES)
    return s


@kernel
def linux_count(ports: int) -> int:
    """Return how many of the ports that decoys add to a Linux server are in the mask."""
    return count_bits(ports & (LINUX_PORTS[0] | LINUX_PORTS[1] | LINUX_PORTS[2]))


@kernel
def linux_ports(count: int) -> int:
    """Return the first ports that decoys add to a Linux server, as a mask."""
    mask = 0
    for i in range(count):
        mask |= LINUX_PORTS[i]
    return mask


@kernel
def _pack_bline(env: Record, sc: Record, tables: Record) -> tuple[int, int]:
    user = int(env.bline_user)
    patched = patches(sc)
    first = _common(env, sc, patched and user in (-1, Host.USER3), patched and user in (-1, Host.USER4))
    lists = 0
    if user < 0 or sc.reveals[user] == Host.ENTERPRISE0:
        lists |= _linux_lists(env, sc, Host.ENTERPRISE0)
    if user < 0 or sc.reveals[user] == Host.ENTERPRISE1:
        lists |= _windows_lists(env, sc, Host.ENTERPRISE1) << 5
    lists |= _windows_lists(env, sc, Host.ENTERPRISE2) << 8
    lists |= (1 if env.red_ports[Host.OP_SERVER0] >= 0 else 0) << 11
    second = coming_state(env)
    second |= ((int(env.bline_seen) >> EXPLOIT_SERVER_STATE) & 1) << 4
    second |= (user - Host.USER1 + 1 if user >= 0 else 0) << 5
    if user < 0:
        for i in range(4):
            second |= int(env.ports[Host.USER1 + i]) << (8 + PORT_BITS * i)
    elif env.red_ports[user] >= 0:
        second |= int(tables.choices[user, tables.index[user, int(env.red_ports[user])]]) << 8
    return first | (lists << COMMON_BITS), second


@kernel
def _linux_lists(env: Record, sc: Record, host: int) -> int:
    """Return Red's list and the ports of the next one: 3 bits for the list, 2 for the ports."""
    ports = int(env.ports[host])
    known = int(env.red_ports[host])
    if known < 0:
        return linux_count(ports) << 3
    if sc.ports_accumulate:
        ports |= known
    return (1 + linux_count(known)) | (linux_count(ports) << 3)


@kernel
def _windows_lists(env: Record, sc: Record, host: int) -> int:
    """Return the same of Enterprise1 or Enterprise2, where only a Femitter fits: 2 bits and 1."""
    ports = int(env.ports[host])
    known = int(env.red_ports[host])
    if known < 0:
        return (ports & FEMITTER_PORT) << 2
    if sc.ports_accumulate:
        ports |= known
    return (1 + (known & FEMITTER_PORT)) | ((ports & FEMITTER_PORT) << 2)


@kernel
def _unpack_bline(lists: int, second: int, env: Record, sc: Record) -> None:
    coming = second & 15
    env.bline_state = max(coming - 1, 0)
    env.red_success = Success.YES if coming > 0 else Success.UNKNOWN
    env.red_answered = 1
    env.bline_seen = ((second >> 4) & 1) << EXPLOIT_SERVER_STATE
    user = ((second >> 5) & 7) - 1
    env.bline_user = user + Host.USER1 if user >= 0 else -1
    known = lists & 7
    h = Host.ENTERPRISE0
    env.ports[h] = int(sc.image_ports[h]) | linux_ports((lists >> 3) & 3)
    env.red_ports[h] = int(sc.image_ports[h]) | linux_ports(known - 1) if known > 0 else -1
    for i in range(2):
        h = Host.ENTERPRISE1 + i
        code = lists >> (5 + 3 * i)
        env.ports[h] = int(sc.image_ports[h]) | (FEMITTER_PORT if code & 4 else 0)
        env.red_ports[h] = int(sc.image_ports[h]) | (FEMITTER_PORT if code & 2 else 0) if code & 3 else -1
    if (lists >> 11) & 1:
        env.red_ports[Host.OP_SERVER0] = sc.image_ports[Host.OP_SERVER0]
    if user < 0:
        for i in range(4):
            env.ports[Host.USER1 + i] = (second >> (8 + PORT_BITS * i)) & ((1 << PORT_BITS) - 1)
    elif second >> 8:
        env.red_ports[Host.USER1 + user] = second >> 8
