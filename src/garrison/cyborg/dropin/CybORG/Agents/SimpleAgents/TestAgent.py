"""An agent for trying out lists of numbers as actions."""

import random
from typing import Any

from CybORG.Agents.SimpleAgents.BaseAgent import BaseAgent
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)


class TestAgent(BaseAgent):
    """With probability `epsilon` draws a number below each entry of the action space, else returns `test_action`."""

    __test__ = False  # not a class of tests, whatever its name says

    def __init__(self, test_action: Any = None, epsilon: float = 1.0) -> None:
        self.test_action = test_action
        self.epsilon = epsilon

    def train(self, results: Any) -> None:
        """Learn nothing."""

    def get_action(self, observation: Any, action_space: Any) -> Any:
        """Return a list of numbers, or the fixed action."""
        if random.random() >= self.epsilon and self.test_action is not None:
            return self.test_action
        return [random.choice(range(size)) if size > 0 else 0 for size in action_space]

    def end_episode(self) -> None:
        """Have nothing to forget."""

    def set_initial_values(self, action_space: Any, observation: Any) -> None:
        """Need no values."""
