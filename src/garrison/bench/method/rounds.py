"""How many rounds there are; in a round, every row that is not done is measured once."""

from dataclasses import dataclass
from typing import Any

from garrison.errors import UserError

BUDGET = "20m"
"""After this time no round begins, unless somebody says otherwise."""


@dataclass(frozen=True)
class Rounds:
    """Until every ratio is steady, or exactly `repeats`; none begins after the budget, but there is always one."""

    repeats: int | None = None
    budget: str = BUDGET
    earlier: dict[str, Any] | None = None
    """The stored result whose rounds these go on with."""

    def __post_init__(self) -> None:
        """Refuse what cannot be done."""
        if self.repeats is not None and self.repeats < 1:
            raise UserError(f"--repeats must be at least 1; got {self.repeats}.")
        assert self.seconds

    @property
    def seconds(self) -> float:
        """The budget in seconds."""
        from garrison.runs.experiment import parse_duration  # here, because it brings the whole simulator with it

        return parse_duration(self.budget)

    def may_begin(self, done: int, elapsed: float) -> bool:
        """Return whether another round may begin after so many, and so many seconds."""
        return done == 0 or (elapsed < self.seconds and (self.repeats is None or done < self.repeats))
