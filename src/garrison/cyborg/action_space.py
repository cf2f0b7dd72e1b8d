"""What an agent may do and name: actions, and every value of their parameters that it knows (True) or could know."""

from collections.abc import Iterable, Mapping
from inspect import signature
from typing import Any

from garrison.cyborg.action_base import Action
from garrison.cyborg.cyborg_enums import SessionType
from garrison.cyborg.refusal import NotInGarrison

MAX_SUBNETS = 10
MAX_ADDRESSES = 10
MAX_SESSIONS = 8
MAX_USERNAMES = 10
MAX_PASSWORDS = 10
MAX_PROCESSES = 50
MAX_PORTS = 50

_SERVERS = (
    SessionType.MSF_SERVER,
    SessionType.VELOCIRAPTOR_SERVER,
    SessionType.RED_ABSTRACT_SESSION,
    SessionType.GREY_SESSION,
)
"""Sessions from which actions can be done."""


class ActionSpace:
    """One agent's action space. It grows with what the agent is told; the dicts that it hands out grow with it."""

    def __init__(self, actions: Iterable[type[Action]], agent: str, allowed_subnets: list[str]) -> None:
        self.actions = dict.fromkeys(actions, True)
        self.action_params = {action: dict(signature(action).parameters) for action in self.actions}
        self.allowed_subnets = allowed_subnets
        self.hostname: dict[str, bool] = {}
        self.reset(agent)

    def reset(self, agent: str) -> None:
        """Forget everything but the names of hosts, which are the same in every episode."""
        self.subnet: dict[Any, bool] = {}
        self.ip_address: dict[Any, bool] = {}
        self.server_session: dict[int, bool] = {}
        self.client_session = dict.fromkeys(range(MAX_SESSIONS), False)
        self.username: dict[str, bool] = {}
        self.password: dict[str, bool] = {}
        self.process: dict[int, bool] = {}
        self.port: dict[int, bool] = {}
        self.agent = {agent: True}

    def get_action_space(self) -> dict[str, dict[Any, bool]]:
        """Return the values of each parameter; the inner dicts are the space's own."""
        return {
            "action": self.actions,
            "subnet": self.subnet,
            "ip_address": self.ip_address,
            "session": self.server_session,
            "username": self.username,
            "password": self.password,
            "process": self.process,
            "port": self.port,
            "target_session": self.client_session,
            "agent": self.agent,
            "hostname": self.hostname,
        }

    def get_max_action_space(self) -> dict[str, int]:
        """Return the sizes that the original announces to agents before the first episode."""
        return {
            "action": len(self.actions),
            "subnet": MAX_SUBNETS,
            "ip_address": MAX_ADDRESSES,
            "session": MAX_SESSIONS,
            "username": MAX_USERNAMES,
            "password": MAX_PASSWORDS,
            "process": MAX_PROCESSES,
            "port": MAX_PORTS,
            "target_session": MAX_SESSIONS,
        }

    def get_max_actions(self, action: type[Action]) -> int:
        """Refuse: the original cannot count the actions that name a host either."""
        raise NotInGarrison("ActionSpace.get_max_actions")

    def allows(self, action: Action) -> bool:
        """Say whether an action is of a class that is listed, with parameters that are known."""
        if not self.actions.get(type(action)):
            return False
        space = self.get_action_space()
        return all(space[name].get(value) for name, value in action.get_params().items() if name in space)

    def update(self, observation: Mapping[str, Any] | None, known: bool = True) -> None:
        """Add what an observation tells, as known or as something that could become known."""
        for entry in (observation or {}).values():
            if isinstance(entry, dict):
                self._add(entry, known)

    def _add(self, entry: Mapping[str, Any], known: bool) -> None:
        name = entry.get("System info", {}).get("Hostname")
        if name is not None:
            self.hostname[name] = known
        for interface in entry.get("Interface", ()):
            if "Subnet" in interface:
                self.subnet[interface["Subnet"]] = known
            if "IP Address" in interface:
                self.ip_address[interface["IP Address"]] = known
        for process in entry.get("Processes", ()):
            if "PID" in process:
                self.process[process["PID"]] = known
            for connection in process.get("Connections", ()):
                self.port[connection["local_port"]] = known
                if "remote_port" in connection:
                    self.port[connection["remote_port"]] = known
        for user in entry.get("User Info", ()):
            self.username[user["Username"]] = known
            if "Password" in user:
                self.password[user["Password"]] = known
        for session in entry.get("Sessions", ()):
            if session["Agent"] in self.agent:
                if session["Type"] in _SERVERS:
                    self.server_session[session["ID"]] = known
                self.client_session[session["ID"]] = known
