"""The attacker that knows the way: straight to the operational server."""

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

LAST_STAGE = 14
TARGET = "Op_Server0"


def _hosts(observation: Any) -> list[Any]:
    return [host for key, host in observation.items() if key != "success"]


def _address(host: Any) -> Any:
    return host["Interface"][0]["IP Address"]


class B_lineAgent(BaseAgent):
    """Goes through fifteen stages; a success leads to the next, a failure back to where `jumps` says.

    What it chose in a stage for the first time, it repeats there until the episode ends.
    """

    def __init__(self) -> None:
        self.action = 0
        self.target_ip_address: Any = None
        self.last_subnet: Any = None
        self.last_ip_address: Any = None
        self.action_history: dict[int, Any] = {}
        self.jumps = [0, 1, 2, 2, 2, 2, 5, 5, 5, 5, 9, 9, 9, 12, 13]

    def train(self, results: Any) -> None:
        """Learn nothing."""

    def get_action(self, observation: Any, action_space: Any) -> Any:
        """Return the action of the stage that the last success or failure leads to."""
        while True:
            if observation["success"] == True:  # noqa: E712, three values: an unknown success is neither
                self.action = min(self.action + 1, LAST_STAGE)
            else:
                self.action = self.jumps[self.action]
            if self.action not in self.action_history:
                chosen = self._choose(observation)
                if chosen is None:
                    self.action = 0
                    continue
                self.action_history[self.action] = chosen
            return self.action_history[self.action]

    def _choose(self, observation: Any) -> Any:
        """Return the action of a stage that is reached for the first time; None if the target did not answer a scan."""
        stage = self.action
        if stage == 0:
            foothold = observation["User0"]
            self.initial_ip = _address(foothold)
            self.last_subnet = foothold["Interface"][0]["Subnet"]
            return DiscoverRemoteSystems(session=0, agent="Red", subnet=self.last_subnet)
        if stage == 1:
            addresses = [_address(host) for host in _hosts(observation)]
            self.last_ip_address = random.choice([address for address in addresses if address != self.initial_ip])
            return self._scan(self.last_ip_address)
        if stage == 2:
            return self._exploit(self.last_ip_address)
        if stage in (3, 6, 10):
            named = next(host for host in _hosts(observation) if "System info" in host)
            return self._escalate(named["System info"]["Hostname"])
        if stage == 4:
            self.enterprise_host = next(name for name in observation if "Enterprise" in name)
            self.last_ip_address = _address(observation[self.enterprise_host])
            return self._scan(self.last_ip_address)
        if stage in (5, 9):
            self.target_ip_address = _address(_hosts(observation)[0])
            return self._exploit(self.target_ip_address)
        if stage == 7:
            self.last_subnet = observation[self.enterprise_host]["Interface"][0]["Subnet"]
            return DiscoverRemoteSystems(session=0, agent="Red", subnet=self.last_subnet)
        if stage == 8:
            self.target_ip_address = _address(_hosts(observation)[2])
            return self._scan(self.target_ip_address)
        if stage == 11:
            return self._scan(_address(observation[TARGET]))
        if stage == 12:
            answered = _hosts(observation)
            return self._exploit(_address(answered[0])) if answered else None
        if stage == 13:
            return self._escalate(TARGET)
        return Impact(session=0, agent="Red", hostname=TARGET)

    def _scan(self, address: Any) -> Any:
        return DiscoverNetworkServices(session=0, agent="Red", ip_address=address)

    def _exploit(self, address: Any) -> Any:
        return ExploitRemoteService(session=0, agent="Red", ip_address=address)

    def _escalate(self, hostname: str) -> Any:
        return PrivilegeEscalate(session=0, agent="Red", hostname=hostname)

    def end_episode(self) -> None:
        """Begin again at the first stage."""
        self.action = 0
        self.target_ip_address = None
        self.last_subnet = None
        self.last_ip_address = None
        self.action_history = {}

    def set_initial_values(self, action_space: Any, observation: Any) -> None:
        """Need no values."""
