"""Defenders that answer a reported process: one removes it, the other restores its host."""

from typing import Any, ClassVar

from CybORG.Agents.SimpleAgents.BaseAgent import BaseAgent
from CybORG.Shared.Actions import Monitor, Remove, Restore
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)


class _BlueReactAgent(BaseAgent):
    """Monitors; after a Monitor, queues every host but User0 with a reported process and answers them in turn."""

    answer: ClassVar[Any]

    def __init__(self) -> None:
        self.host_list: list[str] = []
        self.last_action: str | None = None

    def train(self, results: Any) -> None:
        """Learn nothing."""

    def get_action(self, observation: Any, action_space: Any) -> Any:
        """Return the answer for the first host in the queue, or Monitor."""
        if self.last_action == "Monitor":
            self._queue_suspects(observation)
        session = next(iter(action_space["session"]))
        if not self.host_list:
            self.last_action = "Monitor"
            return Monitor(agent="Blue", session=session)
        self.last_action = self.answer.__name__
        return self.answer(hostname=self.host_list.pop(0), agent="Blue", session=session)

    def _queue_suspects(self, observation: Any) -> None:
        hosts = [host for key, host in observation.items() if key != "success"]
        for name, host in [(host["System info"]["Hostname"], host) for host in hosts]:
            has_reported = any("PID" in process for process in host.get("Processes", ()))
            if has_reported and name != "User0" and name not in self.host_list:
                self.host_list.append(name)

    def end_episode(self) -> None:
        """Empty the queue."""
        self.host_list = []
        self.last_action = None

    def set_initial_values(self, action_space: Any, observation: Any) -> None:
        """Need no values."""


class BlueReactRemoveAgent(_BlueReactAgent):
    """Removes what was reported."""

    answer = Remove


class BlueReactRestoreAgent(_BlueReactAgent):
    """Restores the host where something was reported."""

    answer = Restore
