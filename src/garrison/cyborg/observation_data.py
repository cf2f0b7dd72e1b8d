"""An observation dict with the original's methods for reading it."""

import pprint
from copy import deepcopy
from typing import Any

from garrison.cyborg.cyborg_enums import TrinaryEnum
from garrison.cyborg.refusal import NotInGarrison, original_names


class Observation:
    """What an agent is told: `data` has `success` and an entry for each host.

    The methods by which the original's actions build observations are refused: nothing here would show what they add.
    """

    def __init__(self, success: bool | None = None) -> None:
        self.data: dict[str, Any] = {"success": TrinaryEnum.parse_bool(success)}
        self.raw: Any = ""

    @classmethod
    def of(cls, data: dict[str, Any]) -> "Observation":
        """Return an observation that holds these data, not a copy of them."""
        observation = cls()
        observation.data = data
        return observation

    def __getattr__(self, name: str) -> Any:
        if name in original_names()["classes"].get("CybORG.Shared.Observation.Observation", ()):
            raise NotInGarrison(f"Observation.{name}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def get_dict(self) -> dict[str, Any]:
        """Return the data."""
        return self.data

    def set_success(self, success: bool | TrinaryEnum) -> None:
        """Say whether the action succeeded."""
        self.data["success"] = TrinaryEnum.parse_bool(success) if isinstance(success, bool) else success

    def add_key_value(self, key: str, val: Any) -> None:
        """Add an entry."""
        self.data[key] = val

    def add_raw_obs(self, raw_obs: Any) -> None:
        """Keep a tool's raw answer."""
        self.raw = raw_obs

    def get_sessions(self) -> list[dict[str, Any]]:
        """Return the sessions of all hosts."""
        entries = (entry for entry in self.data.values() if isinstance(entry, dict))
        return [session for entry in entries for session in entry.get("Sessions", ())]

    def get_agent_sessions(self, agent: str) -> list[dict[str, Any]]:
        """Return one agent's sessions."""
        return [session for session in self.get_sessions() if session.get("Agent") == agent]

    @property
    def success(self) -> TrinaryEnum:
        """Whether the action succeeded."""
        success: TrinaryEnum = self.data["success"]
        return success

    @property
    def action_succeeded(self) -> bool:
        """Whether the action certainly succeeded."""
        return self.success == TrinaryEnum.TRUE

    def copy(self) -> "Observation":
        """Return a copy that shares nothing with this."""
        return Observation.of(deepcopy(self.data))

    def __str__(self) -> str:
        return f"{type(self).__name__}:\n{pprint.pformat(self.data)}"

    def __eq__(self, other: object) -> bool:
        # As in the original, entries that only the other one has make no difference.
        return type(other) is Observation and all(
            key in other.data and other.data[key] == value for key, value in self.data.items()
        )

    __hash__ = None  # type: ignore[assignment]
