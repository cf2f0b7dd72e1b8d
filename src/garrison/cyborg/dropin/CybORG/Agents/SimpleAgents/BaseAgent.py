"""What every agent has to answer."""

from typing import Any

from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)


class BaseAgent:
    """Chooses actions for one side; the environment calls all four methods."""

    def train(self, results: Any) -> Any:
        """Learn from a step: its observation, action, reward and next observation."""
        raise NotImplementedError

    def get_action(self, observation: Any, action_space: Any) -> Any:
        """Return the next action."""
        raise NotImplementedError

    def end_episode(self) -> Any:
        """Forget the episode: the environment is reset."""
        raise NotImplementedError

    def set_initial_values(self, action_space: Any, observation: Any) -> Any:
        """Look at the sizes of the action space and at an empty observation, once, before the first episode."""
        raise NotImplementedError
