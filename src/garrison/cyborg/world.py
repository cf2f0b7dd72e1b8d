"""The network in CybORG's terms: processes, sessions, files and connections of every host.

The compiled simulator decides what happens; this world only keeps the books, in the order in which CybORG keeps them,
because observations show that order.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from garrison.cage2.details import FEMITTER
from garrison.cage2.names import HOSTS, Host
from garrison.cyborg.cyborg_enums import Path, ProcessName, ProcessType, ProcessVersion, SessionType, TransportProtocol
from garrison.cyborg.episode_addresses import EpisodeAddresses
from garrison.cyborg.image_facts import (
    ANYWHERE,
    DECOY_PROGRAMS,
    FIRST_SESSIONS,
    IMAGES,
    OT_SERVICE,
    RED,
    SUBNET_OF,
    ImageProgram,
)

PRIVILEGED = ("root", "SYSTEM")
SHELL_PORT = 4444
"""Where Red's foothold waits for reverse shells."""

known_process = cache(ProcessName.parse_string)
known_path = cache(Path.parse_string)
_process_type = cache(ProcessType.parse_string)
_version = cache(ProcessVersion.parse_string)
_address = cache(IPv4Address)
NOWHERE = _address(ANYWHERE)
"""What most sockets are bound to: one object, so that it can be known without a comparison."""


class HostProcess:
    """A running process; its connections are as observations show them."""

    __slots__ = ("connections", "kind", "name", "parent", "path", "pid", "user", "version")

    def __init__(
        self,
        pid: int,
        name: str,
        user: str,
        *,
        parent: int | None = None,
        path: str | None = None,
        kind: str | None = None,
        version: Any = None,
    ) -> None:
        self.pid = pid
        self.name = name
        self.user = user
        self.parent = parent
        self.path = path
        self.kind = _process_type(kind or name)
        self.version = version
        self.connections: list[dict[str, Any]] = []

    def listen(self, port: int, address: str) -> None:
        """Open a socket."""
        self.connections.append(
            {"local_port": port, "local_address": _address(address), "Transport Protocol": TransportProtocol.UNKNOWN}
        )

    def connect(self, port: int, address: IPv4Address, remote_port: int, remote_address: IPv4Address) -> None:
        """Note an established connection."""
        self.connections.append(
            {
                "local_port": port,
                "remote_port": remote_port,
                "local_address": address,
                "remote_address": remote_address,
            }
        )

    @property
    def listening(self) -> list[int]:
        """The ports of its open sockets, in their order."""
        return [connection["local_port"] for connection in self.connections if "remote_port" not in connection]


class HostSession:
    """An agent's session on a host."""

    __slots__ = ("agent", "ident", "pid", "type", "user")

    def __init__(self, agent: str, ident: int, user: str, pid: int, type: SessionType) -> None:
        self.agent = agent
        self.ident = ident
        self.user = user
        self.pid = pid
        self.type = type


class NetworkHost:
    """One host of the network."""

    def __init__(self, h: int, address: IPv4Address, subnet: IPv4Network) -> None:
        self.id = h
        self.name = HOSTS[h]
        self.image = IMAGES[h]
        self.windows = self.image.windows
        self.address = address
        self.subnet = subnet
        self.processes = [_started(program, _version_of(program.version)) for program in self.image.programs]
        self.sessions: dict[str, list[HostSession]] = {}
        """By agent, in the order in which they were made"""
        self.first_sessions: list[tuple[HostSession, str]] = []
        """Those that a Restore brings back, with the names of their processes"""
        self.files: list[str] = []
        """Red's, in the order in which they were written: all have the same density and none is signed"""
        self.services: dict[str, int | None] = {OT_SERVICE.name: OT_SERVICE.pid} if h == Host.OP_SERVER0 else {}
        """The registered process of each service; None after a Restore"""
        self.is_service_active = True
        """The OTService's registry entry; once stopped, its process id may become another's"""
        self.reported: list[int] = []
        """Processes that Blue was told about; nothing ever clears this within an episode"""

    @property
    def folder(self) -> str:
        """Where Red leaves its files."""
        return "C:\\temp\\" if self.windows else "/tmp/"

    def process(self, pid: int | None) -> HostProcess | None:
        """Return the first process with this id."""
        return next((process for process in self.processes if process.pid == pid), None)

    def listening(self) -> Iterator[int]:
        """Yield the port of every open socket, in the order of the processes."""
        for process in self.processes:
            yield from process.listening

    def server(self, kind: ProcessType, port: int) -> HostProcess | None:
        """Return the process that an exploit for this type and port meets."""
        for process in self.processes:
            if process.kind is kind and any(connection["local_port"] == port for connection in process.connections):
                return process
        return None

    def add_first_session(self, session: HostSession, process_name: str) -> None:
        """Add a session of the start, with its process."""
        self.first_sessions.append((session, process_name))
        self.sessions.setdefault(session.agent, []).append(session)
        self.processes.append(HostProcess(session.pid, process_name, session.user))

    def write_file(self, stem: str) -> str:
        """Write one of Red's files and return its name."""
        name = f"{stem}.exe" if self.windows else f"{stem}.sh"
        self.files.append(name)
        return name

    def start_shell(self, pid: int, user: str) -> HostProcess:
        """Start a reverse shell from a file that Red writes."""
        process = HostProcess(pid, self.write_file("cmd"), user, parent=1, path=self.folder)
        self.processes.append(process)
        return process

    def start_login(self, pid: int, user: str, server: HostProcess) -> HostProcess:
        """Start what an SSH server starts for one who logs in."""
        process = HostProcess(pid, "sshd", user, parent=server.pid, path=server.path, kind="ssh")
        self.processes.append(process)
        return process

    def lift(self, session: HostSession) -> None:
        """Make a session and its process privileged, with a file that Red writes."""
        session.user = "SYSTEM" if self.windows else "root"
        process = self.process(session.pid)
        assert process is not None  # a session ends with its process
        process.user = session.user
        self.write_file("escalate")

    def place_decoy(self, d: int, pid: int) -> HostProcess:
        """Start a decoy; its service is registered once, with its first process."""
        decoy = DECOY_PROGRAMS[d]
        user = "SYSTEM" if d == FEMITTER else self.first_sessions[0][0].user
        process = HostProcess(pid, decoy.name, user, parent=1, kind=decoy.kind, version=_version_of(decoy.version))
        process.listen(decoy.port, ANYWHERE)
        self.processes.append(process)
        self.services.setdefault(decoy.service, pid)
        return process

    def restore(self, *, keeps_versions: bool) -> None:
        """Return to the start, except for what Blue was told; the rules decide whether programs keep their version."""
        self.files = []
        self.sessions = {}
        self.processes = [
            _started(program, _after_restore(_version_of(program.version), keeps_versions))
            for program in self.image.programs
        ]
        for session, process_name in self.first_sessions:
            self.sessions.setdefault(session.agent, []).append(session)
            self.processes.append(HostProcess(session.pid, process_name, session.user))
        self.services = dict.fromkeys((OT_SERVICE.name,)) if self.id == Host.OP_SERVER0 else {}
        self.is_service_active = True

    def stop(self, process: HostProcess) -> None:
        """End a process and the session that lives in it."""
        self.processes.remove(process)
        for sessions in self.sessions.values():
            sessions[:] = [session for session in sessions if session.pid != process.pid]


class World:
    """The thirteen hosts of an episode."""

    def __init__(self, network: EpisodeAddresses, pids: Sequence[int], rules: str) -> None:
        self.rules = rules
        self.network = network
        self.hosts = [
            NetworkHost(h, address, network.subnets[SUBNET_OF[h]]) for h, address in enumerate(network.addresses)
        ]
        counts: dict[str, int] = {}
        for first, pid in zip(FIRST_SESSIONS, pids, strict=True):
            ident = counts.get(first.agent, 0)
            counts[first.agent] = ident + 1
            session = HostSession(first.agent, ident, first.user, pid, SessionType.parse_string(first.type))
            self.hosts[first.host].add_first_session(session, first.type)
        self.red_sessions = counts[RED]
        """How many Red ever had: the next one's id"""

    @property
    def foothold(self) -> NetworkHost:
        """The host from which Red always acts."""
        return self.hosts[Host.USER0]

    def foothold_process(self) -> HostProcess:
        """Return the process of Red's first session, the other end of every connection that Red makes."""
        process = self.foothold.process(self.foothold.sessions[RED][0].pid)
        assert process is not None  # a Restore brings it back, and nothing else stops a process of SYSTEM
        return process

    def add_red_session(self, host: NetworkHost, user: str, pid: int, type: SessionType) -> HostSession:
        """Give Red a session on a host."""
        session = HostSession(RED, self.red_sessions, user, pid, type)
        self.red_sessions += 1
        host.sessions.setdefault(RED, []).append(session)
        return session

    def keeps_versions(self) -> bool:
        """Say whether a program that is started again keeps its version (rules §16)."""
        return self.rules == "head"


def _started(program: ImageProgram, version: Any) -> HostProcess:
    process = HostProcess(
        program.pid,
        program.name,
        program.user,
        parent=program.parent,
        path=program.path,
        kind=program.kind,
        version=version,
    )
    for port in program.ports:
        process.listen(port, program.address)
    return process


def _version_of(version: str | None) -> Any:
    return None if version is None else _version(version)


def _after_restore(version: Any, kept: bool) -> Any:
    return version if kept or version is None else ProcessVersion.UNKNOWN
