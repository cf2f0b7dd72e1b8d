"""A dict as a flat list of floats of a fixed length; -1 where something is not known."""

import inspect
import random
from collections.abc import Callable
from datetime import datetime
from typing import Any

from CybORG.Agents.Wrappers.BaseWrapper import BaseWrapper
from CybORG.Shared.Actions import ShellSleep
from CybORG.Shared.Enums import (
    AppProtocol,
    Architecture,
    BuiltInGroups,
    FileType,
    FileVersion,
    OperatingSystemDistribution,
    OperatingSystemKernelVersion,
    OperatingSystemPatch,
    OperatingSystemType,
    OperatingSystemVersion,
    PasswordHashType,
    Path,
    ProcessName,
    ProcessState,
    ProcessType,
    ProcessVersion,
    SessionType,
    Vendor,
    Vulnerability,
)
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)

UNKNOWN = -1.0
PIDS = 32768
PORTS = 65535
ADDRESSES = 4294967296
EPOCH = datetime(2020, 1, 1)

Field = tuple[str, Callable[["FixedFlatWrapper", Any], list[float]]]


def _over(divisor: int) -> Callable[["FixedFlatWrapper", Any], list[float]]:
    return lambda wrapper, value: [float(value) / divisor]


def _address(wrapper: "FixedFlatWrapper", value: Any) -> list[float]:
    return [float(int(value)) / ADDRESSES]


def _subnet(wrapper: "FixedFlatWrapper", value: Any) -> list[float]:
    return [float(int(value.network_address)) / ADDRESSES, float(int(value.prefixlen)) / ADDRESSES]


def _seconds(wrapper: "FixedFlatWrapper", value: Any) -> list[float]:
    return [float((value - EPOCH).total_seconds())]


def _nothing(wrapper: "FixedFlatWrapper", value: Any) -> list[float]:
    return [UNKNOWN]


def _share(value: Any, kind: Any) -> float:
    return UNKNOWN if value == -1 else float(value.value / len(kind.__members__))


def _one_of(kind: Any) -> Callable[["FixedFlatWrapper", Any], list[float]]:
    return lambda wrapper, value: [_share(value, kind)]


def _name_in(register: str, parts: str | None = None) -> Callable[["FixedFlatWrapper", Any], list[float]]:
    """Return a field that numbers names in the order in which they are first seen, by that many `parts` if given."""

    def number(wrapper: "FixedFlatWrapper", value: Any) -> list[float]:
        known: dict[Any, int] = getattr(wrapper, register)
        index = known.setdefault(value, len(known))
        return [float(index / getattr(wrapper, parts)) if parts else float(index)]

    return number


SYSTEM: tuple[Field, ...] = (
    ("Hostname", _name_in("hostname", "MAX_HOSTS")),
    ("OSType", _one_of(OperatingSystemType)),
    ("OSDistribution", _one_of(OperatingSystemDistribution)),
    ("OSVersion", _one_of(OperatingSystemVersion)),
    ("OSKernelVersion", _one_of(OperatingSystemKernelVersion)),
    ("Architecture", _one_of(Architecture)),
    ("Local Time", _seconds),
)
PROCESS: tuple[Field, ...] = (
    ("PID", _over(PIDS)),
    ("PPID", _over(PIDS)),
    ("Process Name", _name_in("process_name")),
    ("Username", _name_in("username")),
    ("Path", _name_in("path")),
    ("Known Process", _one_of(ProcessName)),
    ("Known Path", _one_of(Path)),
    ("Process Type", _one_of(ProcessType)),
    ("Process Version", _one_of(ProcessVersion)),
)
CONNECTION: tuple[Field, ...] = (
    ("local_port", _over(PORTS)),
    ("remote_port", _over(PORTS)),
    ("local_address", _address),
    ("Remote Address", _address),
    ("Application Protocol", _one_of(AppProtocol)),
    ("Status", _one_of(ProcessState)),
)
FILE: tuple[Field, ...] = (
    ("Path", _name_in("path")),
    ("Known Path", _one_of(Path)),
    ("File Name", _name_in("file")),
    ("Known File", _one_of(FileType)),
    ("Type", _one_of(FileType)),
    ("Vendor", _one_of(Vendor)),
    ("Version", _one_of(FileVersion)),
    ("Username", _name_in("username")),
    ("Group Name", _name_in("group_name")),
    ("Last Modified Time", _nothing),
    ("User Permissions", _over(7)),
    ("Group Permissions", _over(7)),
    ("Default Permissions", _over(7)),
)
USER: tuple[Field, ...] = (
    ("Username", _name_in("username")),
    ("Password", _name_in("password")),
    ("Password Hash", _name_in("password_hash")),
    ("Password Hash Type", _one_of(PasswordHashType)),
    ("UID", _over(1)),
    ("Logged in", _over(1)),
)
GROUP: tuple[Field, ...] = (
    ("Builtin Group", _one_of(BuiltInGroups)),
    ("Group Name", _name_in("group_name")),
    ("GID", _over(1)),
)
SESSION: tuple[Field, ...] = (
    ("Username", _name_in("username")),
    ("Type", _one_of(SessionType)),
    ("ID", _over(20)),
    ("Timeout", _over(1)),
    ("PID", _over(PIDS)),
)
INTERFACE: tuple[Field, ...] = (
    ("Interface Name", _name_in("interface_name")),
    ("Subnet", _subnet),
    ("IP Address", _address),
)
WIDTHS = {"Subnet": 2}
"""How many numbers a field has, where it is not one."""


def _padded(parent: dict[str, Any], key: str, size: int, filler: Callable[[], Any] = dict, cut: bool = True) -> Any:
    """Return a list of the observation after filling and, unless told otherwise, cutting it to a size, in place."""
    entries = parent.setdefault(key, [])
    entries.extend(filler() for _ in range(size - len(entries)))
    if cut:
        del entries[size:]
    return entries


class FixedFlatWrapper(BaseWrapper):
    """Flattens the first entries of an observation; fewer are filled up with empty hosts of random names.

    The observation itself is filled up and cut in place, and the names are drawn from Python's global generator, as in
    the original. Names become numbers in the order in which this wrapper first meets them.
    """

    def __init__(self, env: Any = None, agent: Any = None) -> None:
        super().__init__(env, agent)
        self.MAX_HOSTS = 5
        self.MAX_PROCESSES = 100
        self.MAX_CONNECTIONS = 2
        self.MAX_VULNERABILITIES = 1
        self.MAX_INTERFACES = 4
        self.MAX_FILES = 10
        self.MAX_SESSIONS = 20
        self.MAX_USERS = 10
        self.MAX_GROUPS = 10
        self.MAX_PATCHES = 10
        self.hostname: dict[str, int] = {}
        self.username: dict[str, int] = {}
        self.group_name: dict[str, int] = {}
        self.process_name: dict[str, int] = {}
        self.interface_name: dict[str, int] = {}
        self.path: dict[str, int] = {}
        self.password: dict[str, int] = {}
        self.password_hash: dict[str, int] = {}
        self.file: dict[str, int] = {}

    def get_action(self, observation: Any, action_space: Any) -> Any:
        """Return the action that the agent inside describes by class and parameters; ShellSleep if one is not given."""
        chosen = self.agent.get_action(self.observation_change(observation), self.action_space_change(action_space))
        needed = inspect.signature(chosen["action"]).parameters
        if any(name not in chosen for name in needed):
            return ShellSleep()
        return chosen["action"](**{name: chosen[name] for name in needed})

    def observation_change(self, observation: Any) -> list[float]:
        """Return the list of floats."""
        while len(observation) < self.MAX_HOSTS:
            observation.setdefault(str(random.randint(0, self.MAX_HOSTS + 1)), {})
        while len(observation) > self.MAX_HOSTS:
            observation.popitem()
        flat: list[float] = []
        for key, host in observation.items():
            if key == "success":
                flat.append(float(host.value) / 3)
            elif isinstance(host, dict):
                self._flatten_host(host, flat)
            else:
                raise ValueError(f"{key} of an observation is no host: {host!r}")
        return flat

    def _flatten_host(self, host: dict[str, Any], flat: list[float]) -> None:
        system = host.get("System info", {})
        self._fields(system, SYSTEM, flat)
        if "System info" in host:
            patches = _padded(system, "os_patches", self.MAX_PATCHES, lambda: UNKNOWN, cut=False)
            if len(patches) > self.MAX_PATCHES:
                raise ValueError(f"an observation has more than {self.MAX_PATCHES} patches")
            flat.extend(_share(patch, OperatingSystemPatch) for patch in patches)
        else:
            flat.extend([UNKNOWN] * self.MAX_PATCHES)

        for process in _padded(host, "Processes", self.MAX_PROCESSES):
            self._fields(process, PROCESS, flat)
            for connection in _padded(process, "Connections", self.MAX_CONNECTIONS, cut=False):
                self._fields(connection, CONNECTION, flat)
            weaknesses = process.get("Vulnerability", [UNKNOWN] * self.MAX_VULNERABILITIES)
            flat.extend(_share(weakness, Vulnerability) for weakness in weaknesses)
        for file in _padded(host, "Files", self.MAX_FILES):
            self._fields(file, FILE, flat)
        for user in _padded(host, "Users", self.MAX_USERS):
            self._fields(user, USER, flat)
            for group in _padded(user, "Groups", self.MAX_GROUPS):
                self._fields(group, GROUP, flat)
        for session in _padded(host, "Sessions", self.MAX_SESSIONS):
            self._fields(session, SESSION, flat)
        for interface in _padded(host, "Interface", self.MAX_INTERFACES):
            self._fields(interface, INTERFACE, flat)

    def _fields(self, entry: Any, fields: tuple[Field, ...], flat: list[float]) -> None:
        for key, number in fields:
            flat.extend(number(self, entry[key]) if key in entry else [UNKNOWN] * WIDTHS.get(key, 1))

    def get_attr(self, attribute: str) -> Any:
        """Return an attribute of the wrapped environment."""
        return self.env.get_attr(attribute)

    def get_observation(self, agent: str) -> list[float]:
        """Return a side's last observation as the list of floats."""
        return self.observation_change(self.get_attr("get_observation")(agent))
