"""What a step or a reset returns."""

import pprint
from copy import deepcopy
from typing import Any

from garrison.cyborg.observation_data import Observation


class Results:
    """Observation, reward and the rest, as attributes that wrappers replace."""

    def __init__(
        self,
        observation: Any = None,
        done: bool | None = None,
        reward: float | None = None,
        info: Any = None,
        parameter_mask: Any = None,
        action_space: Any = None,
        error: Exception | None = None,
        error_msg: str | None = None,
        next_observation: Any = None,
        action: Any = None,
        action_name: str | None = None,
    ) -> None:
        self.observation = observation
        self.next_observation = next_observation
        self.done = done
        self.reward = reward
        self.action = action
        self.info = info
        self.parameter_mask = parameter_mask
        self.action_space = action_space
        self.error = error
        self.error_msg = error_msg
        self.action_name = action_name
        self.selection_masks = None

    def has_error(self) -> bool:
        """Say whether there was an error."""
        return self.error is not None

    def copy(self) -> "Results":
        """Return a copy that shares nothing with this."""
        return Results(
            observation=_copied(self.observation),
            done=self.done,
            reward=self.reward,
            info=deepcopy(self.info),
            action_space=deepcopy(self.action_space),
            error=deepcopy(self.error),
            error_msg=self.error_msg,
            next_observation=_copied(self.next_observation),
            action=deepcopy(self.action),
        )

    def __str__(self) -> str:
        lines = [f"{type(self).__name__}:"]
        for name, value in self.__dict__.items():
            if value is not None:
                lines.append(f"{name}={pprint.pformat(value) if isinstance(value, dict) else value}")
        return "\n".join(lines)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and all(
            name in other.__dict__ and value == other.__dict__[name] for name, value in self.__dict__.items()
        )

    __hash__ = None  # type: ignore[assignment]


def _copied(observation: Any) -> Any:
    return observation.copy() if isinstance(observation, Observation) else deepcopy(observation)
