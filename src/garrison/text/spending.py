"""What a model's tokens cost, and where to stop."""

import math
import threading
from dataclasses import dataclass, field

from garrison.errors import GarrisonError, UserError
from garrison.text.endpoint import Tokens

MILLION = 1e6


class BudgetSpent(GarrisonError):
    """The next request could go over the budget."""


@dataclass(frozen=True)
class Price:
    """Of a million tokens, in any currency."""

    prompt: float
    completion: float

    def __post_init__(self) -> None:
        if not all(math.isfinite(part) and part >= 0 for part in (self.prompt, self.completion)):
            raise UserError(f"a price is 0 or more for a million tokens; got {self.prompt} and {self.completion}.")

    def of(self, usage: Tokens) -> float:
        """Return what these tokens cost."""
        return (usage.prompt * self.prompt + usage.completion * self.completion) / MILLION


@dataclass
class Spending:
    """The tokens used so far, from several threads."""

    price: Price | None = None
    budget: float | None = None
    """What may be spent; None for no limit"""
    usage: Tokens = field(default_factory=Tokens)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        if self.budget is not None:
            if self.price is None:
                raise UserError("a budget needs the price of tokens: add --price PROMPT COMPLETION.")
            if not (math.isfinite(self.budget) and self.budget > 0):
                raise UserError(f"a budget is more than 0; got {self.budget}.")

    @property
    def cost(self) -> float | None:
        """What was spent; None without a price."""
        return None if self.price is None else self.price.of(self.usage)

    def add(self, usage: Tokens) -> None:
        """Count the tokens of a turn."""
        with self._lock:
            self.usage = self.usage.plus(usage)

    def check(self) -> None:
        """Raise `BudgetSpent` if the budget is used up."""
        cost = self.cost
        if self.budget is not None and cost is not None and cost >= self.budget:
            raise BudgetSpent(
                f"the budget of {self.budget:g} is spent ({cost:.4g}).",
                hint="What was played is kept: the same command with a higher --budget goes on from there.",
            )
