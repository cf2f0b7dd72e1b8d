"""A list of numbers as an action: its class and the values of its parameters, each by position."""

import inspect
from typing import Any

from CybORG.Agents.Wrappers.BaseWrapper import BaseWrapper
from CybORG.Shared.Actions import Sleep
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)


class IntListToActionWrapper(BaseWrapper):
    """Shows an action space as a list of sizes, one for each parameter with a choice, and masks of what is known."""

    def __init__(self, env: Any = None, agent: Any = None) -> None:
        super().__init__(env, agent)
        self.action_space: Any = None
        self.action_params: dict[Any, Any] | None = None
        self.param_name: list[str] | None = None
        self.selection_mask: Any = None

    def step(self, agent: Any = None, action: Any = None) -> Any:
        """Play the action that the numbers mean."""
        chosen = None if action is None else self.get_action(agent, action)
        result = self.env.step(agent, chosen)
        result.action_space, result.selection_masks = self.action_space_change(result.action_space)
        self.selection_mask = result.selection_masks
        result.action_name = str(chosen)
        return result

    def reset(self, agent: Any = None) -> Any:
        """Begin an episode."""
        result = self.env.reset(agent)
        result.action_space, result.selection_masks = self.action_space_change(result.action_space)
        self.selection_mask = result.selection_masks
        result.observation = self.observation_change(result.observation)
        return result

    def get_action_space(self, agent: str) -> list[int]:
        """Return the sizes."""
        sizes, self.selection_mask = self.action_space_change(self.env.get_action_space(agent))
        return sizes

    def action_space_change(self, action_space: Any) -> tuple[list[int], list[list[int]]]:
        """Return the sizes, and for each parameter the positions of its known values."""
        self.action_space = action_space
        choices = {name: values for name, values in action_space.items() if len(values) > 1}
        self.param_name = list(choices)
        masks = [
            [position for position, is_known in enumerate(values.values()) if is_known] for values in choices.values()
        ]
        return [len(values) for values in choices.values()], masks

    def get_action(self, agent: str, action: Any) -> Any:
        """Return the action that the numbers mean; Sleep if a parameter that it needs is not known."""
        if self.action_space is None:
            self.get_action_space(agent)
        action_class = list(self.action_space["action"])[action[0]]
        if self.action_params is None:
            self.action_params = {one: dict(inspect.signature(one).parameters) for one in self.action_space["action"]}
        options = {}
        position = 0
        for name, values in self.action_space.items():
            has_choice = len(values) > 1
            index = action[position] if has_choice else 0
            if name in self.action_params[action_class] and (not has_choice or index < len(values)):
                value, is_known = list(values.items())[index]
                if is_known:
                    options[name] = value
            position += has_choice
        try:
            return action_class(**options)
        except TypeError:
            return Sleep()

    def get_attr(self, attribute: str) -> Any:
        """Return an attribute of the wrapped environment."""
        return self.env.get_attr(attribute)
