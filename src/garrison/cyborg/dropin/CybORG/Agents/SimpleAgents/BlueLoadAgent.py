"""A defender that Stable-Baselines3 trained with PPO."""

from typing import Any

from CybORG.Agents.SimpleAgents.BaseAgent import BaseAgent
from garrison.cyborg.refusal import NotInGarrison, refuses
from garrison.system import require

__getattr__ = refuses(__name__)


class BlueLoadAgent(BaseAgent):
    """Plays the model of a file; importing it needs nothing, using it needs Stable-Baselines3."""

    def __init__(self, model_file: str | None = None) -> None:
        self.model: Any = None
        if model_file is not None:
            require("stable_baselines3")
            from stable_baselines3 import PPO

            self.model = PPO.load(model_file)

    def get_action(self, observation: Any, action_space: Any) -> Any:
        """Return the model's action."""
        if self.model is None:
            raise NotInGarrison("BlueLoadAgent without a model file, which makes a new model for Scenario 1b")
        action, _ = self.model.predict(observation)
        return action

    def train(self, results: Any) -> None:
        """Learn nothing."""

    def end_episode(self) -> None:
        """Have nothing to forget."""

    def set_initial_values(self, action_space: Any, observation: Any) -> None:
        """Need no values."""
