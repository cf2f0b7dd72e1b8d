"""What Red's actions do to the world's books, what Red is told, and which events Blue's monitor will see."""

from collections.abc import Iterator
from ipaddress import IPv4Address
from typing import Any, NamedTuple

from garrison.cage2.names import EXPLOITS, HOSTS, Host, RedKind
from garrison.cyborg.blue_answers import Answer
from garrison.cyborg.cyborg_enums import OperatingSystemType, ProcessState, ProcessType, SessionType, TrinaryEnum
from garrison.cyborg.image_facts import EXPLOITED, OT_SERVICE, RED, SUBNET_HOSTS, exploit_ports, reveals
from garrison.cyborg.true_view import interface, own_interface, session_info
from garrison.cyborg.world import PRIVILEGED, SHELL_PORT, NetworkHost, World

BRUTE_FORCE = EXPLOITS.index("SSHBruteForce")
GUESSES = 10
"""Passwords that SSHBruteForce tries."""


class RedTurn(NamedTuple):
    """What the simulator decided about Red's action."""

    kind: int
    target: int
    exploit: int
    success: TrinaryEnum
    answered: bool
    events: int
    detected: bool
    lifted: int


def red_answer(world: World, turn: RedTurn, drawn: Iterator[int]) -> tuple[Answer, list[dict[str, Any]]]:
    """Do Red's action and return what Red is told and the events on its target."""
    answer: Answer = {"success": turn.success}
    events: list[dict[str, Any]] = []
    succeeded = turn.success is TrinaryEnum.TRUE
    if turn.kind == RedKind.SWEEP and succeeded:
        _sweep(world, turn.target, answer)
    elif turn.kind == RedKind.SCAN and turn.answered:
        _scan(world, world.hosts[turn.target], drawn, answer, events)
    elif turn.kind == RedKind.EXPLOIT and turn.events:
        if turn.exploit == BRUTE_FORCE:
            _guess(world, turn, drawn, answer, events)
        elif succeeded:
            _take(world, turn, drawn, answer, events)
        else:
            _miss(world, turn, drawn, answer, events)
    elif turn.kind == RedKind.ESCALATE and succeeded:
        _escalate(world, world.hosts[turn.target], turn.lifted, answer)
    elif turn.kind == RedKind.IMPACT and succeeded:
        _impact(world.hosts[turn.target])
    return answer, events


def _sweep(world: World, subnet: int, answer: Answer) -> None:
    for h in SUBNET_HOSTS[subnet]:
        address = world.network.addresses[h]
        answer[str(address)] = {"Interface": [{"IP Address": address, "Subnet": world.network.subnets[subnet]}]}


def _event(host: NetworkHost, port: int, remote_port: int, remote_address: IPv4Address) -> dict[str, Any]:
    return {
        "Connections": [
            {
                "local_port": port,
                "remote_port": remote_port,
                "local_address": host.address,
                "remote_address": remote_address,
            }
        ]
    }


def _scan(world: World, host: NetworkHost, drawn: Iterator[int], answer: Answer, events: list[dict[str, Any]]) -> None:
    found = []
    for port in host.listening():
        found.append({"Connections": [{"local_port": port, "local_address": host.address}]})
        events.append(_event(host, port, next(drawn), world.foothold.address))
    answer[str(host.address)] = {"Processes": found, "Interface": interface(host.address)}


def _open_port(host: NetworkHost, port: int, kind: ProcessType) -> dict[str, Any]:
    connection = {"local_port": port, "local_address": host.address, "Status": ProcessState.OPEN}
    return {"Connections": [connection], "Process Type": kind}


def _attacked(turn: RedTurn) -> tuple[int, ProcessType]:
    """Return the port and the type of process that an exploit is for."""
    return exploit_ports()[turn.exploit], ProcessType.parse_string(EXPLOITED[turn.exploit])


def _miss(world: World, turn: RedTurn, drawn: Iterator[int], answer: Answer, events: list[dict[str, Any]]) -> None:
    """Fail against a decoy, which makes a second event, or against a program that is no longer vulnerable."""
    host = world.hosts[turn.target]
    port, kind = _attacked(turn)
    events.append(_event(host, port, next(drawn), world.foothold.address))
    if turn.events > 1:
        hit = {"local_port": port, "local_address": host.address, "remote_address": world.foothold.address}
        events.append({"Connections": [hit]})
    answer["1"] = {"Interface": interface(host.address)}  # a place without a name, as in the original
    answer[str(host.address)] = {
        "Processes": [_open_port(host, port, kind)],
        "Interface": interface(host.address),
    }


def _take(world: World, turn: RedTurn, drawn: Iterator[int], answer: Answer, events: list[dict[str, Any]]) -> None:
    """Open a reverse shell as the user of the attacked process."""
    host, foothold = world.hosts[turn.target], world.foothold
    port, kind = _attacked(turn)
    server = host.server(kind, port)
    assert server is not None  # the simulator found it
    events.append(_event(host, port, next(drawn), foothold.address))
    local_port, pid = next(drawn), next(drawn)
    process = host.start_shell(pid, server.user)
    process.connect(local_port, host.address, SHELL_PORT, foothold.address)
    session = world.add_red_session(host, server.user, pid, SessionType.RED_REVERSE_SHELL)
    world.foothold_process().connect(SHELL_PORT, foothold.address, local_port, host.address)
    shell = _event(host, local_port, SHELL_PORT, foothold.address)
    if turn.detected:
        events.append({"PID": pid, **shell})
    back = _event(foothold, SHELL_PORT, local_port, host.address)
    near = _entry(answer, foothold)
    near["Processes"].append({**back, "Process Type": ProcessType.REVERSE_SESSION_HANDLER})
    far = _entry(answer, host)
    far["Processes"].append(
        {**_event(host, local_port, SHELL_PORT, foothold.address), "Process Type": ProcessType.REVERSE_SESSION}
    )
    far["Sessions"] = [{"ID": session.ident, "Type": session.type, "Agent": RED}]
    far["System info"] = _who(host)
    far["Processes"].append(_open_port(host, port, kind))


def _guess(world: World, turn: RedTurn, drawn: Iterator[int], answer: Answer, events: list[dict[str, Any]]) -> None:
    """Try passwords at the SSH server; the account that falls is the host's one weak account."""
    host, foothold = world.hosts[turn.target], world.foothold
    port, kind = _attacked(turn)
    server = host.server(kind, port)
    assert server is not None  # the simulator found it
    far = _entry(answer, host)
    far["Processes"].append(_open_port(host, port, kind))
    events += [_event(host, port, next(drawn), foothold.address) for _ in range(GUESSES)]
    if turn.success is not TrinaryEnum.TRUE:
        return
    account = next(account for account in host.image.accounts if account.password is not None)
    pid, remote_port = next(drawn), next(drawn)
    host.start_login(pid, account.name, server).connect(port, host.address, remote_port, foothold.address)
    session = world.add_red_session(host, account.name, pid, SessionType.SSH)
    events.append(_event(host, port, remote_port, foothold.address))
    world.foothold_process().connect(remote_port, foothold.address, port, host.address)
    _entry(answer, foothold)["Processes"].append(_event(foothold, remote_port, port, host.address))
    far["Processes"].append({**_event(host, port, remote_port, foothold.address), "Process Type": kind})
    far["Sessions"] = [{"Username": account.name, "ID": session.ident, "Type": session.type, "Agent": RED}]
    far["User Info"] = [{"Username": account.name, "UID": account.uid, "Password": account.password}]
    far["System info"] = _who(host)


def _entry(answer: Answer, host: NetworkHost) -> dict[str, Any]:
    """Return what the answer says about an address, begun if it says nothing yet."""
    entry: dict[str, Any] = answer.setdefault(
        str(host.address), {"Processes": [], "Interface": interface(host.address)}
    )
    return entry


def _who(host: NetworkHost) -> dict[str, Any]:
    family = OperatingSystemType.WINDOWS if host.windows else OperatingSystemType.LINUX
    return {"Hostname": host.name, "OSType": family}


def _escalate(world: World, host: NetworkHost, lifted: int, answer: Answer) -> None:
    """Make a session privileged unless one is, and read what the host knows about the network."""
    sessions = host.sessions[RED]
    if lifted < 0:
        session = next(session for session in sessions if session.user in PRIVILEGED)
        entry: dict[str, Any] = {
            "Sessions": [session_info(session)],
            "Processes": [{"PID": session.pid, "Username": session.user}],
        }
    else:
        session = sessions[lifted]
        host.lift(session)
        entry = {"Sessions": [{"Username": session.user, "ID": session.ident, "Type": session.type, "Agent": RED}]}
    answer[host.name] = entry
    if host.id == Host.OP_SERVER0:
        _read_services(host, entry)
    entry["Interface"] = [own_interface(host)]
    h = reveals()[host.id]
    if h >= 0:
        answer[HOSTS[h]] = {"Interface": interface(world.network.addresses[h])}


def _read_services(host: NetworkHost, entry: dict[str, Any]) -> None:
    processes = entry.setdefault("Processes", [])
    pid = host.services[OT_SERVICE.name]
    processes.append(
        {"Service Name": OT_SERVICE.name} if pid is None else {"PID": pid, "Service Name": OT_SERVICE.name}
    )


def _impact(host: NetworkHost) -> None:
    """Stop the OTService; after a Restore its registered process is none, so it runs on (quirk Q1)."""
    pid = host.services[OT_SERVICE.name] if host.is_service_active else None
    host.is_service_active = False
    process = None if pid is None else host.process(pid)
    if process is not None:
        host.stop(process)
