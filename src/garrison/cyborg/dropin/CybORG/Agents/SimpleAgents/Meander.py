"""The attacker that takes every host it can find, subnet by subnet."""

import random
from typing import Any

from CybORG.Agents.SimpleAgents.BaseAgent import BaseAgent
from CybORG.Shared.Actions import (
    DiscoverNetworkServices,
    DiscoverRemoteSystems,
    ExploitRemoteService,
    Impact,
    PrivilegeEscalate,
)
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)

TARGET = "Op_Server0"


class RedMeanderAgent(BaseAgent):
    """Sweeps what is known, scans what was found, escalates what it holds, then exploits the rest.

    Shuffles come from Python's global generator: the addresses once something is swept, then the host names.
    """

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self.scanned_subnets: list[Any] = []
        self.scanned_ips: list[Any] = []
        self.exploited_ips: list[Any] = []
        self.escalated_hosts: list[str] = []
        self.host_ip_map: dict[str, Any] = {}
        self.last_host: str | None = None
        self.last_ip: Any = None

    def train(self, results: Any) -> None:
        """Learn nothing."""

    def get_action(self, observation: Any, action_space: Any) -> Any:
        """Return the first of its habits that has something left to do."""
        self._process_success(observation)
        actor = {"agent": "Red", "session": next(iter(action_space["session"]))}
        if TARGET in self.escalated_hosts:
            self.last_host = TARGET
            return Impact(hostname=TARGET, **actor)

        for subnet, is_known in action_space["subnet"].items():
            if is_known and subnet not in self.scanned_subnets:
                self.scanned_subnets.append(subnet)
                return DiscoverRemoteSystems(subnet=subnet, **actor)

        addresses = list(action_space["ip_address"])
        random.shuffle(addresses)
        known = [address for address in addresses if action_space["ip_address"][address]]
        for address in known:
            if address not in self.scanned_ips:
                self.scanned_ips.append(address)
                return DiscoverNetworkServices(ip_address=address, **actor)

        hostnames = list(action_space["hostname"])
        random.shuffle(hostnames)
        for hostname in hostnames:
            if action_space["hostname"][hostname] and self._may_escalate(hostname):
                self.escalated_hosts.append(hostname)
                self.last_host = hostname
                return PrivilegeEscalate(hostname=hostname, **actor)

        for address in known:
            if address not in self.exploited_ips:
                self.exploited_ips.append(address)
                self.last_ip = address
                return ExploitRemoteService(ip_address=address, **actor)
        raise NotImplementedError("the meandering attacker has nothing left to do")

    def _may_escalate(self, hostname: str) -> bool:
        if hostname in self.escalated_hosts:
            return False
        return hostname not in self.host_ip_map or self.host_ip_map[hostname] in self.exploited_ips

    def _process_success(self, observation: Any) -> None:
        """Learn from the last exploit or escalation whether it worked."""
        success = observation["success"]
        if self.last_ip is not None:
            if success == True:  # noqa: E712, three values: an unknown success is neither
                infos = [host.get("System info", {}) for key, host in observation.items() if key != "success"]
                self.host_ip_map[next(info["Hostname"] for info in infos if "Hostname" in info)] = self.last_ip
            else:
                self._process_failed_ip()
            self.last_ip = None
        if self.last_host is not None:
            if success == False:  # noqa: E712
                if self.last_host in self.escalated_hosts:
                    self.escalated_hosts.remove(self.last_host)
                address = self.host_ip_map.get(self.last_host)
                if address in self.exploited_ips:
                    self.exploited_ips.remove(address)
            self.last_host = None

    def _process_failed_ip(self) -> None:
        """After a failed exploit, forget also what is held in the deepest zone: the way there may be lost."""
        self.exploited_ips.remove(self.last_ip)
        for zone in ("Op", "Ent"):
            lost = [host for host in self.escalated_hosts if zone in host]
            for host in lost:
                self.escalated_hosts.remove(host)
                self.exploited_ips.remove(self.host_ip_map[host])
            if lost:
                return

    def end_episode(self) -> None:
        """Forget everything."""
        self._forget()

    def set_initial_values(self, action_space: Any, observation: Any) -> None:
        """Need no values."""
