"""An attacker for playing from outside: it takes one host after another through the whole chain."""

import random
from typing import Any

from CybORG.Shared.Actions import (
    DiscoverNetworkServices,
    DiscoverRemoteSystems,
    ExploitRemoteService,
    Impact,
    PrivilegeEscalate,
)
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)

ESCALATED = 3
"""How far the chain leads: 0 known, 1 scanned, 2 exploited, 3 escalated."""


class HeuristicRed:
    """Chooses from observations alone; random draws come from Python's global generator."""

    def __init__(self, session: int = 0, priority: Any = None) -> None:
        self.priority = priority
        self.parameters: dict[str, Any] = {"session": session, "agent": "Red"}
        self.killchain = [DiscoverNetworkServices, ExploitRemoteService, PrivilegeEscalate, Impact]
        self.last_action: Any = None
        self.history: list[Any] = []
        self.active_ip: Any = None
        self.known_subnets: set[Any] = set()
        self.unexplored_subnets: set[Any] = set()
        self.ip_map: dict[Any, str | None] = {}
        self.ip_status: dict[Any, int] = {}

    def get_action(self, obs: Any) -> Any:
        """Return the next action after an observation."""
        if obs["success"] == False:  # noqa: E712, three values: the first, unknown, is no failure
            self._process_last_action_failure()
        else:
            if self.last_action:
                self._process_last_action_success()
            self._process_new_ips(obs)
        return self._advance_killchain()

    def _process_last_action_success(self) -> None:
        action = self.last_action
        name = type(action).__name__
        if name == "DiscoverRemoteSystems":
            self.unexplored_subnets.remove(action.subnet)
        elif name in ("DiscoverNetworkServices", "ExploitRemoteService"):
            self.ip_status[action.ip_address] += 1
        else:
            ip = self._get_ip(action.hostname)
            self.ip_status[ip] = min(self.ip_status[ip] + 1, ESCALATED)

    def _process_last_action_failure(self) -> None:
        action = self.last_action
        name = type(action).__name__
        if name in ("PrivilegeEscalate", "Impact"):
            self.ip_status[self._get_ip(action.hostname)] = 1
        elif name == "ExploitRemoteService":
            self.ip_status[action.ip_address] = ESCALATED  # only the Defender cannot be exploited: leave it alone
        else:
            raise NotImplementedError("this attacker does not expect a scan to fail")

    def _process_new_ips(self, obs: Any) -> None:
        for key, host in obs.items():
            if key == "success":
                continue
            hostname = (host.get("System info") or {}).get("Hostname")
            for interface in host.get("Interface", []):
                subnet = interface.get("Subnet")
                if subnet is not None and subnet not in self.known_subnets:
                    self.known_subnets.add(subnet)
                    self.unexplored_subnets.add(subnet)
                ip = interface["IP Address"]
                self.ip_status.setdefault(ip, 0)
                if self.ip_map.get(ip) is None:
                    self.ip_map[ip] = hostname

    def _advance_killchain(self) -> Any:
        if self.unexplored_subnets:
            subnet = random.choice(list(self.unexplored_subnets))
            action = DiscoverRemoteSystems(subnet=subnet, **self.parameters)
        else:
            action = self._choose_exploit(self._choose_ip())
        self.last_action = action
        self.history.append(action)
        return action

    def _choose_ip(self) -> Any:
        if self.active_ip is None:
            self.active_ip = random.choice(list(self.ip_status))
        is_done = self.ip_status[self.active_ip] >= ESCALATED and self.ip_map[self.active_ip] != "Op_Server0"
        if is_done:
            self.active_ip = random.choice([ip for ip, status in self.ip_status.items() if status < ESCALATED])
        return self.active_ip

    def _choose_exploit(self, ip: Any) -> Any:
        status = self.ip_status[ip]
        command = self.killchain[status]
        if status == 0:
            return command(ip_address=ip, **self.parameters)
        if status == 1:
            return command(ip_address=ip, priority=self.priority, **self.parameters)
        return command(hostname=self.ip_map[ip], **self.parameters)

    def _get_ip(self, hostname: str) -> Any:
        for ip, name in self.ip_map.items():
            if name == hostname:
                return ip
        raise NotImplementedError(f"no address is known for {hostname}")
