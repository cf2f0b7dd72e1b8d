"""What CybORG draws beyond the rules, and the lists that decide how many draws that takes.

CybORG draws addresses, process ids and ephemeral ports, and picks one of one. Nearly nothing of that shows in the game,
but all of it takes words from Python's generator, so whoever wants CybORG's episode of a seed must draw it too, in the
same order (rules §4, §12). With real process ids the lists of sessions and decoys decide which session an escalation
lifts and what Remove stops (quirk Q14); the counts of the state follow.

All of this exists only with `Source.CYBORG`. Kernels take `details`, which is None with every other source: Numba then
compiles what depends on it away, so other batches are not slower for it, nor is their code larger.
"""

import numpy as np

from garrison.cage2.layout import FIRST_PORT, MAX_DRAWN, NUM_FIRST_SESSIONS, NUM_PORTS, Record
from garrison.cage2.mersenne import below, one_of, sample, shuffle
from garrison.cage2.mersenne import uniform as python_uniform
from garrison.cage2.names import NUM_DECOYS, NUM_HOSTS, NUM_SUBNETS, Access, Host
from garrison.jit import kernel

NUM_PIDS = 32768  # process ids are drawn from 1..32767
NUM_BLOCKS = 4096  # of 16 addresses, in 10.0.0.0/16
BLOCK = 16
USABLE = 14  # addresses of a block: neither the first nor the last
SESSION = -1  # instead of a decoy
FEMITTER = 1  # the decoy that runs as SYSTEM, which Remove does not stop

SUBNET_HOSTS = np.array(  # in the order in which they get their addresses; -1: no more
    [
        [Host.ENTERPRISE0, Host.ENTERPRISE1, Host.ENTERPRISE2, Host.DEFENDER, -1],
        [Host.OP_SERVER0, Host.OP_HOST0, Host.OP_HOST1, Host.OP_HOST2, -1],
        [Host.USER0, Host.USER1, Host.USER2, Host.USER3, Host.USER4],
    ]
)
_USERS = (Host.USER0, Host.USER1, Host.USER2, Host.USER3, Host.USER4)
_OPS = (Host.OP_HOST0, Host.OP_HOST1, Host.OP_HOST2)
FIRST_SESSIONS = np.array(  # the host of each session after a reset
    [
        Host.DEFENDER,  # Blue's server
        *_USERS,  # and its clients
        Host.ENTERPRISE0,
        Host.ENTERPRISE1,
        Host.ENTERPRISE2,
        Host.DEFENDER,
        Host.OP_SERVER0,
        *_OPS,
        *_USERS,  # Green
        *_OPS,
        Host.USER0,  # Red
    ]
)
RED_SESSION = NUM_FIRST_SESSIONS - 1  # the place of Red's among them

SERVICE_PID = 1043  # the OTService of Op_Server0: free while the service is down
_SSHD = [1091]
_WINDOWS_SERVER = [3368, 832, 4400, 4, 3404]
_DEFENDER = [1, 389, 407, 409, 560, 634, 656, 790, 802, 803, 807, 824, 825, 827]
_DEFENDER += [832, 844, 847, 852, 853, 863, 867, 875, 879, 884, 1370, 1432, 2288]
_IMAGES = [  # process ids of the hosts' images
    _DEFENDER,
    _SSHD,
    _WINDOWS_SERVER,
    _WINDOWS_SERVER,
    *[_SSHD] * 3,
    [*_SSHD, SERVICE_PID],
    [3368, 3344],
    [3368, 3344],
    [4, 832, 4400],
    [1100, 1101, 1102],
    [1091, 1100, 1101, 1102],
]
IMAGE_PIDS = np.array([pids + [0] * (len(_DEFENDER) - len(pids)) for pids in _IMAGES])  # 0 is no process

EXPLOIT_ORDER = (2, 1, 3, 4, 0, 5, 6, 7)  # in which CybORG lists the exploits that it chooses from
STRAY_ADDRESS = 11 * 256 + 88  # a socket of Defender's image is bound to 10.0.11.88 (quirk Q18)


# --- what is drawn


@kernel
def draw_network(env: Record, details: Record) -> None:
    """Draw what a reset draws: addresses, and the process ids of the first sessions."""
    blocks = np.empty(NUM_SUBNETS, np.int64)
    sample(details, NUM_BLOCKS, blocks)
    for subnet in range(NUM_SUBNETS):
        below(details, 1)  # which part of the block; it has one
        count = 0
        while count < SUBNET_HOSTS.shape[1] and SUBNET_HOSTS[subnet, count] >= 0:
            count += 1
        places = np.empty(count, np.int64)
        sample(details, USABLE, places)
        details.subnets[subnet] = BLOCK * blocks[subnet]
        for i in range(count):
            details.addresses[SUBNET_HOSTS[subnet, i]] = BLOCK * blocks[subnet] + 1 + places[i]
    details.process_count = 0
    details.report_count = 0
    for h in range(NUM_HOSTS):
        forget_processes(details, h)
        details.address_order[h] = h
        details.host_order[h] = h
    for i in range(NUM_FIRST_SESSIONS):
        details.session_pids[i] = 0  # not running yet
    for i in range(NUM_FIRST_SESSIONS):
        draw_pid(env, details, FIRST_SESSIONS[i])
        details.session_pids[i] = details.new_pid
    start_process(details, FIRST_SESSIONS[RED_SESSION], SESSION, Access.PRIVILEGED)  # its id was drawn last
    begin_draws(details)


@kernel
def begin_draws(details: Record) -> None:
    """Forget what was drawn in the step before."""
    details.drawn_count = 0
    details.lifted = -1
    details.named_exploit = -1


@kernel
def _keep(details: Record, number: int) -> None:
    if details.drawn_count < MAX_DRAWN:
        details.drawn[details.drawn_count] = number
    details.drawn_count += 1


@kernel
def draw_pid(env: Record, details: Record, host: int) -> None:
    """Draw the id of a new process: again while the host has one with that id."""
    pid = below(details, NUM_PIDS)
    while pid == 0 or is_running(env, details, host, pid):
        pid = below(details, NUM_PIDS)
    details.new_pid = pid
    _keep(details, pid)


@kernel
def draw_ports(details: Record, host: int, count: int) -> None:
    """Draw ephemeral ports of a host; one that was used before is drawn once more."""
    for _ in range(count):
        port = below(details, NUM_PORTS)
        if (np.int64(details.used_ports[host, port >> 3]) >> (port & 7)) & 1:
            port = below(details, NUM_PORTS)
        details.used_ports[host, port >> 3] = np.int64(details.used_ports[host, port >> 3]) | (1 << (port & 7))
        _keep(details, FIRST_PORT + port)


@kernel
def draw_blue_session(details: Record, host: int) -> None:
    """Draw which of Blue's sessions on the host acts: Defender has two, the others one."""
    below(details, 2 if host == Host.DEFENDER else 1)


@kernel
def shuffle_addresses(details: Record) -> None:
    """Draw the order in which Meander looks through addresses: from that of the hosts, but for quirk Q18."""
    place = 0
    for h in range(NUM_HOSTS):
        if details.addresses[h] == STRAY_ADDRESS:
            details.address_order[0] = h
            place = 1
    for h in range(NUM_HOSTS):
        if details.addresses[h] != STRAY_ADDRESS:
            details.address_order[place] = h
            place += 1
    shuffle(details, details.address_order)


@kernel
def shuffle_hosts(details: Record) -> None:
    """Draw the order in which Meander looks through hostnames."""
    for h in range(NUM_HOSTS):
        details.host_order[h] = h
    shuffle(details, details.host_order)


@kernel
def draw_listed_exploit(details: Record, top: int, others: int, top_odds: float) -> int:
    """Draw the exploit to try: first one of the mask `others`, in CybORG's order, then whether it is `top` instead."""
    count = 0
    for e in EXPLOIT_ORDER:
        count += (others >> e) & 1
    rank = one_of(details, count)
    is_top = python_uniform(details) < top_odds
    for e in EXPLOIT_ORDER:
        if (others >> e) & 1:
            if rank == 0:
                return top if is_top else e
            rank -= 1
    return top


# --- the lists


@kernel
def is_running(env: Record, details: Record, host: int, pid: int) -> bool:
    """Return whether the host has a process with this id."""
    for i in range(IMAGE_PIDS.shape[1]):
        if IMAGE_PIDS[host, i] == pid:
            return bool(pid != SERVICE_PID or env.ot_running != 0)
    for i in range(NUM_FIRST_SESSIONS):
        if details.session_pids[i] == pid and FIRST_SESSIONS[i] == host:
            return True
    return find_process(details, host, pid) >= 0


@kernel
def find_process(details: Record, host: int, pid: int) -> int:
    """Return the place of a session or decoy in the list, -1 if there is none with this id."""
    for i in range(details.process_count):
        if details.process_pid[i] == pid and details.process_host[i] == host:
            return i
    return -1


@kernel
def is_reported(details: Record, host: int, pid: int) -> bool:
    """Return whether Blue was told this process id."""
    for i in range(details.report_count):
        if details.report_pid[i] == pid and details.report_host[i] == host:
            return True
    return False


@kernel
def start_process(details: Record, host: int, decoy: int, level: int) -> None:
    """Add a session or a decoy at the end of the list, under the process id that was drawn last."""
    i = details.process_count
    details.process_host[i] = host
    details.process_pid[i] = details.new_pid
    details.process_decoy[i] = decoy
    details.process_level[i] = level
    details.process_count += 1


@kernel
def _keep_processes(details: Record, gone: int, host: int) -> None:
    """Drop the process at the place `gone`, and those of `host` but for Red's first session; -1 drops none."""
    kept = 0
    for i in range(details.process_count):
        if i != gone and (details.process_host[i] != host or i == 0):
            details.process_host[kept] = details.process_host[i]
            details.process_pid[kept] = details.process_pid[i]
            details.process_decoy[kept] = details.process_decoy[i]
            details.process_level[kept] = details.process_level[i]
            kept += 1
    details.process_count = kept


@kernel
def forget_processes(details: Record, host: int) -> None:
    """End all sessions and decoys of a host, and forget which ports it used: what a Restore does."""
    _keep_processes(details, -1, host)
    for d in range(NUM_DECOYS):
        details.registered[host, d] = 0
    for i in range(details.used_ports.shape[1]):
        details.used_ports[host, i] = 0


@kernel
def report_process(details: Record, host: int, pid: int) -> None:
    """Tell Blue a process id."""
    i = details.report_count
    details.report_host[i] = host
    details.report_pid[i] = pid
    details.report_count += 1


@kernel
def start_decoy(env: Record, details: Record, host: int, decoy: int) -> None:
    """Start a decoy under a new process id; the first of its kind is registered by it."""
    below(details, 1)  # which of the decoy's makers; it has one
    draw_pid(env, details, host)
    start_process(details, host, decoy, Access.NONE)
    if details.registered[host, decoy] == 0:
        details.registered[host, decoy] = details.new_pid


@kernel
def lift_process(details: Record, host: int, index: int) -> bool:
    """Make a session privileged, the one with this place among those of its host; return whether it was reported."""
    details.lifted = index
    for i in range(details.process_count):
        if details.process_host[i] == host and details.process_decoy[i] == SESSION:
            if index == 0:
                details.process_level[i] = Access.PRIVILEGED
                return is_reported(details, host, int(details.process_pid[i]))
            index -= 1
    return False


@kernel
def stop_reported(env: Record, sc: Record, details: Record, host: int) -> None:
    """Stop every process of the host that Blue was told of and may stop, in the order of the reports (quirk Q14).

    A decoy may have got such an id by chance. It is stopped and started again under a new id if its own is registered;
    the registry keeps the old one. Should the new id have been reported as well, the decoy is stopped for good.
    """
    for report in range(details.report_count):
        if details.report_host[report] != host:
            continue
        place = find_process(details, host, int(details.report_pid[report]))
        if place < 0 or details.process_level[place] == Access.PRIVILEGED or details.process_decoy[place] == FEMITTER:
            continue
        decoy = int(details.process_decoy[place])
        pid = int(details.process_pid[place])
        _keep_processes(details, place, -1)
        if decoy != SESSION:
            if _is_registered(details, host, pid):
                draw_pid(env, details, host)
                start_process(details, host, decoy, Access.NONE)
            else:
                env.decoys[host, decoy] -= 1
                env.sockets[host] -= 1
    ports = int(sc.image_ports[host])
    for d in range(NUM_DECOYS):
        if env.decoys[host, d] > 0:
            ports |= int(sc.opens[d])
    env.ports[host] = ports


@kernel
def _is_registered(details: Record, host: int, pid: int) -> bool:
    for d in range(NUM_DECOYS):
        if details.registered[host, d] == pid:
            return True
    return False
