"""The defender that only watches."""

from typing import Any

from CybORG.Agents.SimpleAgents.BaseAgent import BaseAgent
from CybORG.Shared.Actions import Monitor
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)


class BlueMonitorAgent(BaseAgent):
    """Monitors at every step."""

    def get_action(self, observation: Any, action_space: Any) -> Any:
        """Return Monitor."""
        return Monitor(session=0, agent="Blue")

    def train(self, results: Any) -> None:
        """Learn nothing."""

    def end_episode(self) -> None:
        """Have nothing to forget."""

    def set_initial_values(self, action_space: Any, observation: Any) -> None:
        """Need no values."""
