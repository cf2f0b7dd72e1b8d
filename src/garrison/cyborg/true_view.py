"""The world as observation dicts: what a host looks like to one who may see a given part of it."""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from garrison.cage2.names import HOSTS
from garrison.cyborg.cyborg_enums import (
    Architecture,
    OperatingSystemDistribution,
    OperatingSystemType,
    OperatingSystemVersion,
    TrinaryEnum,
)
from garrison.cyborg.image_facts import AGENTS, BLUE, GREEN, RED, Account
from garrison.cyborg.refusal import NotInGarrison
from garrison.cyborg.world import NOWHERE, HostProcess, HostSession, NetworkHost, World, known_path, known_process

LOOPBACK = IPv4Address("127.0.0.1")
LOOPBACK_SUBNET = IPv4Network("127.0.0.0/8")

_EVERYTHING = {
    "System info": "All",
    "Sessions": "All",
    "Interfaces": "All",
    "User info": "All",
    "Processes": ["All"],
}


def _initial_info() -> dict[str, dict[str, dict[str, Any]]]:
    insider = {"Interfaces": "All", "System info": "All", "User info": "All"}
    return {
        "True": {name: dict(_EVERYTHING) for name in HOSTS},
        BLUE: {name: {**insider, "Sessions": BLUE} for name in HOSTS},
        GREEN: {name: {**insider, "Sessions": GREEN} for name in HOSTS},
        RED: {"User0": {"Interfaces": "All", "System info": "All", "Sessions": RED}},
    }


INFO = _initial_info()
"""Which parts of which hosts each agent sees at the start, and `True` sees always."""


def true_state(world: World, info: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the parts of the world that `info` names by host: Processes, Interfaces, Sessions, User info, ..."""
    state: dict[str, Any] = {"success": TrinaryEnum.UNKNOWN}
    for host in world.hosts:
        if host.name in info:
            entry = _host_view(host, info[host.name])
            if entry:
                state[host.name] = entry
    return state


def within_network(world: World, state: dict[str, Any]) -> dict[str, Any]:
    """Drop, in place, what concerns addresses outside the network, and return the state."""
    inside = {*world.network.addresses, NOWHERE}
    for name in [name for name, entry in state.items() if isinstance(entry, dict)]:
        entry = state[name]
        for part, keeps in (("Processes", _process_inside), ("Interface", _interface_inside)):
            if part in entry:
                entry[part][:] = [item for item in entry[part] if keeps(item, inside)]
                if not entry[part]:
                    del entry[part]
        if not entry:
            del state[name]
    return state


def _process_inside(process: dict[str, Any], inside: set[IPv4Address]) -> bool:
    for connection in process.get("Connections", ()):
        for end in ("local_address", "remote_address"):
            # Hashing an address is slow, and most sockets are bound to this very object.
            if end in connection and connection[end] is not NOWHERE and connection[end] not in inside:
                return False
    return True


def _interface_inside(item: dict[str, Any], inside: set[IPv4Address]) -> bool:
    return item.get("IP Address", NOWHERE) in inside and item.get("Subnet") != LOOPBACK_SUBNET


def interface(address: IPv4Address) -> list[dict[str, Any]]:
    """Return the list of interfaces of somebody of whom only the address is known."""
    return [{"IP Address": address}]


def own_interface(host: NetworkHost) -> dict[str, Any]:
    """Return a host's interface as the host itself sees it."""
    return {"Interface Name": "eth0", "IP Address": host.address, "Subnet": host.subnet}


def system_info(host: NetworkHost) -> dict[str, Any]:
    """Return what a host is."""
    if host.windows:
        return {
            "Hostname": host.name,
            "OSType": OperatingSystemType.WINDOWS,
            "OSDistribution": OperatingSystemDistribution.WINDOWS_SVR_2008,
            "OSVersion": OperatingSystemVersion.W6_1_7601,
            "Architecture": Architecture.x64,
        }
    return {
        "Hostname": host.name,
        "OSType": OperatingSystemType.LINUX,
        "OSDistribution": OperatingSystemDistribution.UBUNTU,
        "OSVersion": OperatingSystemVersion.U18_04_3,
        "Architecture": Architecture.x64,
    }


def session_info(session: HostSession) -> dict[str, Any]:
    """Return all that there is to know about a session."""
    return {
        "Username": session.user,
        "ID": session.ident,
        "Timeout": 0,
        "PID": session.pid,
        "Type": session.type,
        "Agent": session.agent,
    }


def _host_view(host: NetworkHost, parts: Mapping[str, Any]) -> dict[str, Any]:
    view: dict[str, Any] = {}
    processes: dict[int, dict[str, Any]] = {}
    if "Processes" in parts:
        _add_processes(host, processes)
        view["Processes"] = None  # its place among the keys
    interfaces = _bound_addresses(host) if "Processes" in parts else []
    if "Interfaces" in parts:
        interfaces = _with_interfaces(host, parts["Interfaces"], interfaces)
    if interfaces:
        view["Interface"] = interfaces
    if "Sessions" in parts:
        _add_sessions(host, parts["Sessions"], view, processes)
    if "Files" in parts:
        raise NotInGarrison("get_true_state with Files, which show accounts of the simulator's own")
    if "User info" in parts:
        view["User Info"] = [_user_info(account) for account in host.image.accounts]
    if "System info" in parts:
        view["System info"] = system_info(host)
    listed = list(processes.values())
    if "Services" in parts:
        _add_services(host, parts["Services"], listed)
    if listed:
        view["Processes"] = listed
    return view


def _add_processes(host: NetworkHost, processes: dict[int, dict[str, Any]]) -> None:
    for process in host.processes:
        earlier = processes.pop(process.pid, None)
        entry = _process_info(process)
        if earlier is not None:  # one process may be listed twice, once for each socket
            entry["Connections"] = earlier["Connections"] + entry["Connections"]
        processes[process.pid] = entry


def _process_info(process: HostProcess) -> dict[str, Any]:
    entry: dict[str, Any] = {"PID": process.pid}
    if process.parent is not None:
        entry["PPID"] = process.parent
    entry["Process Name"] = process.name
    entry["Known Process"] = known_process(process.name)
    entry["Username"] = process.user
    if process.path is not None:
        entry["Path"] = process.path
        entry["Known Path"] = known_path(process.path)
    if process.connections:
        entry["Connections"] = [connection.copy() for connection in process.connections]
    entry["Process Type"] = process.kind
    if process.version is not None:
        entry["Process Version"] = process.version
    return entry


def _bound_addresses(host: NetworkHost) -> list[dict[str, Any]]:
    """Return the addresses that a host's sockets tell."""
    addresses = (connection["local_address"] for process in host.processes for connection in process.connections)
    bound = dict.fromkeys(address for address in addresses if address is not NOWHERE and address != NOWHERE)
    return [{"IP Address": address} for address in bound]


def _with_interfaces(host: NetworkHost, which: str, bound: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a host's interfaces, behind other addresses that its sockets are bound to."""
    strange = [item for item in bound if item["IP Address"] != host.address]
    if which == "All":
        loopback = {"Interface Name": "lo", "IP Address": LOOPBACK, "Subnet": LOOPBACK_SUBNET}
        return [*strange, loopback, own_interface(host)]
    if which == "IP Address":
        return strange + interface(host.address)
    raise NotImplementedError(f"a host's Interfaces can be 'All' or 'IP Address', not {which!r}")


def _add_sessions(host: NetworkHost, whose: str, view: dict[str, Any], processes: dict[int, dict[str, Any]]) -> None:
    for agent in AGENTS:
        if whose not in ("All", agent):
            continue
        for session in host.sessions.get(agent, ()):
            view.setdefault("Sessions", []).append(session_info(session))
            view.setdefault("Processes", None)
            # Telling of a session tells of its process again, which moves it to the end.
            process = processes.pop(session.pid, None) or {"PID": session.pid}
            process["Username"] = session.user
            processes[session.pid] = process


def _user_info(account: Account) -> dict[str, Any]:
    entry: dict[str, Any] = {"Username": account.name}
    if account.password is not None:
        entry["Password"] = account.password
    if account.group is not None:
        entry["Groups"] = [{"GID": account.group}]
    return entry


def _add_services(host: NetworkHost, which: Any, listed: list[dict[str, Any]]) -> None:
    for service, pid in host.services.items():
        if "All" not in which and service not in which:
            continue
        process = next((item for item in listed if pid is not None and item.get("PID") == pid), None)
        if process is not None:
            listed.remove(process)
        elif pid is None:
            process = {}
        else:
            process = {"PID": pid}
        process["Service Name"] = service
        listed.append(process)
