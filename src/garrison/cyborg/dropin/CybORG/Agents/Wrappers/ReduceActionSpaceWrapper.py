"""An action space without the parameters that no action takes."""

import inspect
from typing import Any

from CybORG.Agents.Wrappers.BaseWrapper import BaseWrapper
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)


class ReduceActionSpaceWrapper(BaseWrapper):
    """Drops unused parameters, and ports that were not known when it first looked."""

    def __init__(self, env: Any = None, agent: Any = None) -> None:
        super().__init__(env, agent)
        self.action_signature: dict[Any, Any] = {}
        self.known_params: dict[str, Any] = {}
        self.params_to_fix_at_start = ["port"]
        self.fixed_size: dict[str, list[Any]] = {}

    def action_space_change(self, action_space: Any) -> Any:
        """Take out of this action space, in place, what is not needed; return it."""
        assert type(action_space) is dict, "ReduceActionSpaceWrapper needs an action space that is a dict"
        for name in self.params_to_fix_at_start:
            if name in self.fixed_size:
                for value in [value for value in action_space[name] if value not in self.fixed_size[name]]:
                    del action_space[name][value]
            else:
                self.fixed_size[name] = list(action_space[name])
        needed = {"action"}
        for action in action_space["action"]:
            if action not in self.action_signature:
                self.action_signature[action] = dict(inspect.signature(action).parameters)
            needed.update(self.action_signature[action])
        for name in [name for name in action_space if name not in needed]:
            del action_space[name]
        return action_space

    def get_attr(self, attribute: str) -> Any:
        """Return an attribute of the wrapped environment."""
        return self.env.get_attr(attribute)

    def reset(self, agent: Any = None) -> Any:
        """Begin an episode; its Results are the wrapped environment's."""
        self.fixed_size = {}
        return self.env.reset(agent)
