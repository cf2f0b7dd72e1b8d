"""The agent that does nothing."""

from typing import Any

from CybORG.Agents.SimpleAgents.BaseAgent import BaseAgent
from CybORG.Shared.Actions import Sleep
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)


class SleepAgent(BaseAgent):
    """Sleeps at every step, on any side."""

    def train(self, results: Any) -> None:
        """Learn nothing."""

    def get_action(self, observation: Any, action_space: Any) -> Any:
        """Return Sleep."""
        return Sleep()

    def end_episode(self) -> None:
        """Have nothing to forget."""

    def set_initial_values(self, action_space: Any, observation: Any) -> None:
        """Need no values."""
