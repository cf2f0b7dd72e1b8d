"""CybORG's actions as objects: what an agent chooses, with the original's names, parameters and texts.

They only say what to do: the compiled simulator does it.
"""

from typing import Any

from garrison.cyborg.refusal import NotInGarrison


class Inside:
    """A part of the original's simulator that an action refers to: it has a name, and using it is refused."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # how copy and pickle ask what an object can do
            raise AttributeError(attribute)
        raise NotInGarrison(f"{self._name}.{attribute}")

    def __repr__(self) -> str:
        return f"<{self._name} of the original CybORG>"


class Action:
    """Something that an agent can do. Two actions are equal if they are the same object."""

    def sim_execute(self, state: Any) -> Any:
        """Refuse: there is no state of the original's to act on."""
        raise NotInGarrison(f"{type(self).__name__}.sim_execute")

    def emu_execute(self) -> Any:
        """Refuse: there is no emulator."""
        raise NotInGarrison(f"{type(self).__name__}.emu_execute")

    def __str__(self) -> str:
        return type(self).__name__

    def get_params(self) -> dict[str, Any]:
        """Return the action's attributes."""
        return {name: value for name, value in self.__dict__.items() if not name.startswith("__")}

    @property
    def cost(self) -> float:
        """What the action adds to its agent's reward."""
        return 0


class Sleep(Action):
    """Do nothing."""


class InvalidAction(Action):
    """What becomes of an action that is not in its agent's action space."""

    def __init__(self, action: Action) -> None:
        self.action = action

    @property
    def cost(self) -> float:
        """The price of not knowing what is allowed."""
        return -0.1


class ConcreteAction(Action):
    """An action that names the session it is done from."""

    def __init__(self, session: int, agent: str) -> None:
        self.agent = agent
        self.session = session


class ShellSleep(Action):
    """An action of other scenarios, which flat wrappers choose for numbers that mean nothing: here it is invalid."""

    def __init__(self, session: int | None = None, agent: str | None = None, t: int = 1) -> None:
        self.session = session
        self.agent = agent
        self.t = t

    def __str__(self) -> str:
        return f"{type(self).__name__}: Session={self.session}"
