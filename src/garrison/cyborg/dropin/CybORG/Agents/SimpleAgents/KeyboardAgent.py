"""A person chooses the actions."""

import inspect
from pprint import pformat
from typing import Any

from CybORG.Agents.SimpleAgents.BaseAgent import BaseAgent
from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)


class KeyboardAgent(BaseAgent):
    """Prints what it sees and asks for a command and its parameters, by number or by name."""

    def __init__(self, screen_width: int = 94) -> None:
        self.step = 1
        self.screen_width = screen_width

    def get_action(self, observation: Any, action_space: Any, sessions: Any = None) -> Any:
        """Return what the person chose."""
        print(f" Turn {self.step} ".center(self.screen_width, "="))
        print(pformat(observation) if isinstance(observation, dict) else observation)
        success = observation["success"] if isinstance(observation, dict) else observation.success
        if self.step > 1:
            print(f"The last action's success: {success}")
        commands = self._get_valid_commands(action_space)
        command = self._choose_from_options("command", list(commands))
        self.step += 1
        return self._select_parameters(commands[command])

    def _get_valid_commands(self, action_space: Any) -> dict[str, dict[str, Any]]:
        """Return the commands for whose every parameter a value is known, with those values."""
        valid = {}
        for command in action_space["action"]:
            needed = [name for name in inspect.signature(command).parameters if name != "priority"]
            options = {name: [key for key, is_known in action_space[name].items() if is_known] for name in needed}
            if all(options.values()):
                valid[command.__name__] = {**options, "command": command}
        return valid

    def _choose_from_options(self, name: str, options: list[Any]) -> Any:
        if not options:
            raise ValueError(f"there is nothing to choose as {name}")
        if len(options) == 1:
            print(f"{name}: {options[0]} (the only one)")
            return options[0]
        for number, option in enumerate(options):
            print(f"{number:3} {option}")
        by_text = {
            **{str(option).lower(): option for option in options},
            **dict(zip(map(str, range(len(options))), options, strict=True)),
        }
        while (answer := input(f"{name}: ").strip().lower()) not in by_text:
            print(f"No {name} is called {answer!r}; type its number or its name.")
        return by_text[answer]

    def _select_parameters(self, parameter_dict: dict[str, Any]) -> Any:
        command = parameter_dict.pop("command")
        return command(**{name: self._choose_from_options(name, options) for name, options in parameter_dict.items()})

    def train(self, results: Any) -> None:
        """Leave learning to the person."""

    def end_episode(self) -> None:
        """Have nothing to forget."""

    def set_initial_values(self, action_space: Any, observation: Any) -> None:
        """Need no values."""
