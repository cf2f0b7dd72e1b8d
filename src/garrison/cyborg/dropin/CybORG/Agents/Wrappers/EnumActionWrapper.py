"""Every action with every choice of its parameters, numbered."""

import inspect
from itertools import product
from typing import Any

from CybORG.Agents.Wrappers.BaseWrapper import BaseWrapper
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)


class EnumActionWrapper(BaseWrapper):
    """Takes the number of an action; `possible_actions` is the list that the numbers mean."""

    def __init__(self, env: Any = None, agent: Any = None) -> None:
        super().__init__(env, agent)
        self.possible_actions: list[Any] | None = None
        self.action_signature: dict[Any, Any] = {}
        self._classes: list[Any] = []
        self._parameters: list[list[str]] = []
        """Of each class, the names of its parameters"""
        self._values: dict[str, list[Any]] = {}
        """Of each parameter, the values that the space had when the actions were listed"""
        self._actions: list[Any] = []
        self.get_action_space("Red")

    def step(self, agent: Any = None, action: Any = None) -> Any:
        """Play the action with this number; without one, the agent inside chooses."""
        if action is not None:
            assert self.possible_actions is not None
            action = self.possible_actions[action]
        return super().step(agent, action)

    def action_space_change(self, action_space: Any) -> int:
        """List the possible actions; return how many there are."""
        assert type(action_space) is dict, "EnumActionWrapper needs an action space that is a dict; wrap it less"
        # Making all actions takes much longer than a step, and most steps change none of their parameters.
        classes = list(action_space["action"])
        if classes != self._classes:
            self._classes = classes
            self._parameters = [self._names(action) for action in classes]
            self._values = {name: [] for names in self._parameters for name in names}
            self._list(action_space)
        elif any(values != list(action_space[name]) for name, values in self._values.items()):
            self._list(action_space)
        self.possible_actions = list(self._actions)
        return len(self.possible_actions)

    def _list(self, action_space: Any) -> None:
        """Make an action of every class with every choice of values."""
        self._values = {name: list(action_space[name]) for name in self._values}
        self._actions = [
            action(**dict(zip(names, chosen, strict=True)))
            for action, names in zip(self._classes, self._parameters, strict=True)
            for chosen in product(*(self._values[name] for name in names))
        ]

    def _names(self, action: Any) -> list[str]:
        if action not in self.action_signature:
            self.action_signature[action] = dict(inspect.signature(action).parameters)
        return [name for name in self.action_signature[action] if name != "priority"]
