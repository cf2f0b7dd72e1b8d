"""Rewards for changing something, and less for doing the same again."""

import sys
from collections import deque
from typing import Any

from CybORG.Agents.Wrappers.BaseWrapper import BaseWrapper
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)

FAVOURED = (32, 33, 34)
"""Actions that earn more if they change what is seen."""


def _comparable(observation: Any) -> Any:
    torch = sys.modules.get("torch")  # nobody has a tensor without it
    return observation.tolist() if torch is not None and torch.is_tensor(observation) else observation


class RewardShape(BaseWrapper):
    """Compares the last two observations and the last two actions; a reward of 1 ends the episode with 10."""

    def __init__(self, env: Any = None, agent: Any = None) -> None:
        super().__init__(env, agent)
        self.action_buffer: deque[Any] = deque(maxlen=2)
        self.observation_buffer: deque[Any] = deque(maxlen=2)

    def step(self, agent: Any = None, action: Any = None) -> Any:
        """Play a step; its reward is shaped."""
        result = self.env.step(agent, action)
        self.action_buffer.append(action)
        self.observation_buffer.append(_comparable(result.observation))
        if result.reward == 1.0:
            result.reward = 10.0
            result.done = True
        elif len(self.observation_buffer) == 2:
            has_two_actions = len(self.action_buffer) == 2
            if self.observation_buffer[0] == self.observation_buffer[1]:
                is_repeated = has_two_actions and self.action_buffer[0] == self.action_buffer[1]
                result.reward = -0.05 if is_repeated else -0.01
            else:
                result.reward = 1.0 if has_two_actions and action in FAVOURED else 0.01
        return result

    def reset(self, agent: Any = None) -> Any:
        """Begin an episode."""
        result = self.env.reset(agent)
        self.action_buffer = deque(maxlen=2)
        self.observation_buffer = deque([_comparable(result.observation)], maxlen=2)
        return result
