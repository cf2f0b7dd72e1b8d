"""Every action with every choice of its parameters, numbered."""

import inspect
from itertools import product
from typing import Any

from CybORG.Agents.Wrappers.BaseWrapper import BaseWrapper


class EnumActionWrapper(BaseWrapper):
    """Takes the number of an action; `possible_actions` is the list that the numbers mean."""

    def __init__(self, env: Any = None, agent: Any = None) -> None:
        super().__init__(env, agent)
        self.possible_actions: list[Any] | None = None
        self.action_signature: dict[Any, Any] = {}
        self._listed: tuple[Any, list[Any]] = (None, [])
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
        parameters = {action: self._parameters(action) for action in action_space["action"]}
        values = {name: list(action_space[name]) for names in parameters.values() for name in names}
        seen = (list(parameters), values)
        # Making all actions takes much longer than a step, and most steps change none of their parameters.
        if self._listed[0] != seen:
            actions = [
                action(**dict(zip(names, chosen, strict=True)))
                for action, names in parameters.items()
                for chosen in product(*(values[name] for name in names))
            ]
            self._listed = (seen, actions)
        self.possible_actions = list(self._listed[1])
        return len(self.possible_actions)

    def _parameters(self, action: Any) -> list[str]:
        if action not in self.action_signature:
            self.action_signature[action] = dict(inspect.signature(action).parameters)
        return [name for name in self.action_signature[action] if name != "priority"]
