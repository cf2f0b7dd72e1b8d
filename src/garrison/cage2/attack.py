"""What Red's actions do (rules §7). Each returns whether it succeeded; events are left on the target for Blue."""

from garrison.cage2.details import (
    SESSION,
    draw_pid,
    draw_ports,
    is_reported,
    report_process,
    start_process,
)
from garrison.cage2.layout import Record
from garrison.cage2.mersenne import below
from garrison.cage2.names import (
    NUM_DECOYS,
    NUM_EXPLOITS,
    NUM_HOSTS,
    NUM_SUBNETS,
    Access,
    Genuine,
    RedKind,
    Success,
)
from garrison.cage2.rng import count_bits, draw_detected, draw_exploit, draw_reused
from garrison.cage2.sessions import add_session, lift_session
from garrison.jit import kernel


@kernel
def attack(env: Record, sc: Record, tape: Record, details: Record, kind: int, target: int) -> None:
    """Carry out Red's action; it always starts from Red's first session."""
    env.red_kind = kind
    env.red_target = target
    env.red_exploit = -1
    env.red_answered = 0
    env.events = 0
    env.event_ports = 0
    env.event_shell = 0
    if kind == RedKind.SLEEP:
        env.red_success = Success.UNKNOWN
        env.red_target = -1
        return
    success = False
    if kind == RedKind.SWEEP:
        success = sweep(env, sc, target)
    elif kind == RedKind.SCAN:
        success = scan(env, sc, details, target)
    elif kind == RedKind.EXPLOIT:
        success = exploit(env, sc, tape, details, target)
    elif kind == RedKind.ESCALATE:
        success = escalate(env, sc, tape, details, target)
    elif kind == RedKind.IMPACT:
        success = impact(env, sc, details, target)
    env.red_success = Success.YES if success else Success.NO


@kernel
def is_routed(env: Record, sc: Record, subnet: int) -> bool:
    """Return whether Red can reach the subnet: some need a session of any level on a gateway."""
    gateways = int(sc.gateways[subnet])
    if gateways == 0:
        return True
    for h in range(NUM_HOSTS):
        if (gateways >> h) & 1 and env.sessions[h] > 0:
            return True
    return False


@kernel
def is_known(env: Record, kind: int, target: int) -> bool:
    """Return whether Red may name this target: CybORG refuses what Red has not learned (rules §7.6)."""
    if kind == RedKind.SWEEP:
        return bool(target < NUM_SUBNETS and env.known_subnet[target] != 0)
    if kind == RedKind.SCAN or kind == RedKind.EXPLOIT:
        return bool(env.known_address[target] != 0)
    if kind == RedKind.ESCALATE or kind == RedKind.IMPACT:
        return bool(env.known_host[target] != 0)
    return True


@kernel
def sweep(env: Record, sc: Record, subnet: int) -> bool:
    """Learn the addresses of a subnet. Blue sees nothing."""
    if not is_routed(env, sc, subnet):
        return False
    for h in range(NUM_HOSTS):
        if sc.subnet[h] == subnet:
            env.known_address[h] = 1
    env.red_answered = 1
    return True


@kernel
def scan(env: Record, sc: Record, details: Record, host: int) -> bool:
    """Learn a host's open ports, one event for each socket."""
    if is_routed(env, sc, int(sc.subnet[host])):
        ports = int(env.ports[host])
        if sc.ports_accumulate and env.red_ports[host] >= 0:
            env.red_ports[host] = ports | int(env.red_ports[host])
        else:
            env.red_ports[host] = ports
        env.red_answered = 1
        if details is not None:
            draw_ports(details, host, int(env.sockets[host]))
        env.events = env.sockets[host]
        env.event_ports = count_bits(ports)
    return True  # quirk Q9: also when nothing answered


@kernel
def exploit(env: Record, sc: Record, tape: Record, details: Record, host: int) -> bool:
    """Try an exploit on one of the ports that Red remembers; success is a new session."""
    e = choose_exploit(env, sc, tape, details, host)
    env.red_answered = 1
    env.red_exploit = e
    if e < 0 or not is_routed(env, sc, int(sc.subnet[host])):
        return False
    level = int(sc.genuine[host, e])
    if level == Genuine.ABSENT and not has_decoy(env, sc, host, e):
        return False  # nothing listens: silent
    env.event_ports = 1
    if sc.brute_force[e]:
        if details is not None:
            draw_ports(details, int(sc.foothold), int(sc.brute_force_tries))
        env.events = sc.brute_force_tries
        if level != Genuine.USER and level != Genuine.PRIVILEGED:
            return False
        env.events += 1
        if details is not None:
            draw_pid(env, details, host)
            draw_ports(details, host, 1)
        win_session(env, sc, tape, details, host, level, False)
        return True
    if details is not None:
        draw_ports(details, host, 1)
    if level == Genuine.ABSENT:  # a decoy takes the hit
        env.events = 2
        return False
    env.events = 1
    if level == Genuine.NOISY_FAILURE or (env.patched[host] and sc.restore_patches[e]):
        return False
    env.malware[host] = 1
    if details is not None:
        draw_ports(details, host, 1)
        draw_pid(env, details, host)
    detected = draw_detected(env, tape, details, sc.detect_rate)
    if detected:  # one more event, on a random high port
        env.events = 2
        env.event_ports = 2
        env.event_shell = 1
    win_session(env, sc, tape, details, host, level, detected)
    return True


@kernel
def choose_exploit(env: Record, sc: Record, tape: Record, details: Record, host: int) -> int:
    """Choose among the exploits that fit the remembered ports: the top one with fixed odds; -1 if none fits."""
    if details is not None and details.named_exploit >= 0:
        return int(details.named_exploit)
    ports = int(env.red_ports[host])
    if ports < 0:
        return -1
    options = 0
    top = -1
    for e in range(NUM_EXPLOITS):
        needs = int(sc.needs[e])
        needs_any = int(sc.needs_any[e])
        if (ports & needs) == needs and (needs_any == 0 or (ports & needs_any) != 0):
            options |= 1 << e
            if top < 0 or sc.weight[e] > sc.weight[top]:
                top = e
    if top < 0:
        return -1
    others = options & ~(1 << top)
    return draw_exploit(env, tape, details, top, others, sc.top_odds) if others != 0 else top


@kernel
def has_decoy(env: Record, sc: Record, host: int, e: int) -> bool:
    """Return whether a decoy on the host answers the exploit."""
    for d in range(NUM_DECOYS):
        if sc.blocks[d] == e and env.decoys[host, d] > 0:
            return True
    return False


@kernel
def win_session(env: Record, sc: Record, tape: Record, details: Record, host: int, level: int, reported: bool) -> None:
    """Add a session, which Red now knows by name; its process id may be one reported to Blue earlier (quirk Q14)."""
    if details is not None:
        reused = is_reported(details, host, int(details.new_pid))
        start_process(details, host, SESSION, level)
        if reported:
            report_process(details, host, int(details.new_pid))
    else:
        reused = draw_reused(env, tape, int(env.stale[host]), int(sc.process_ids))
    if reused:
        env.stale[host] -= 1
        reported = True
    add_session(env, host, level, reported)
    env.known_host[host] = 1


@kernel
def escalate(env: Record, sc: Record, tape: Record, details: Record, host: int) -> bool:
    """Become privileged on a host with a session, and learn what the host knows. Blue sees nothing."""
    if env.sessions[host] == 0:
        return False
    if env.access[host] != Access.PRIVILEGED:
        lift_session(env, tape, details, host)
        env.malware[host] = 1
    env.known_address[host] = 1
    env.known_subnet[sc.subnet[host]] = 1
    if sc.reveals[host] >= 0:
        env.known_address[sc.reveals[host]] = 1
    if host == sc.service_host:
        env.ot_known = 1
    return True


@kernel
def impact(env: Record, sc: Record, details: Record, host: int) -> bool:
    """Stop the OTService; a session of any level and knowledge of the service suffice."""
    if details is not None and env.sessions[host] > 0 and env.access[host] != Access.PRIVILEGED:
        below(details, int(env.sessions[host]))  # which session acts (X8)
    if env.sessions[host] == 0 or not env.ot_known or host != sc.service_host:
        return False
    if env.ot_active:
        env.ot_active = 0
        if env.ot_stoppable:
            env.ot_running = 0
    return True
