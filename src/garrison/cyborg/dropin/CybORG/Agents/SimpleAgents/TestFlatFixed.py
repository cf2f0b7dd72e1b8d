"""An agent for trying out flat observations of a fixed length."""

import random
from typing import Any

from CybORG.Agents.SimpleAgents.BaseAgent import BaseAgent
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)


class TestFlatFixedAgent(BaseAgent):
    """Draws actions, and checks that every observation is a list of floats of one length."""

    __test__ = False  # not a class of tests, whatever its name says

    def __init__(
        self, action_size: Any = None, state_size: Any = None, test_action: Any = None, epsilon: float = 1.0
    ) -> None:
        self.test_action = test_action
        self.epsilon = epsilon
        self.len_obs: int | None = None

    def train(self, results: Any) -> None:
        """Check the observation of a step."""
        self._check(results.observation)

    def get_action(self, observation: Any, action_space: Any) -> int:
        """Return a random action after checking the observation."""
        assert type(action_space) is int
        self._check(observation)
        return random.choice(range(action_space))

    def _check(self, observation: Any) -> None:
        assert type(observation) is list
        assert all(type(element) is float for element in observation)
        if self.len_obs is None:
            self.len_obs = len(observation)
        assert len(observation) == self.len_obs

    def end_episode(self) -> None:
        """Keep the length: it holds for all episodes."""
