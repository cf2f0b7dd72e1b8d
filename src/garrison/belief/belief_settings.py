"""What a belief assumes, and how much of it is kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from garrison.cage2.names import SCRIPTED_REDS
from garrison.contract.resets import whole
from garrison.errors import UserError


def _prior() -> dict[str, float]:
    return {"bline": 0.45, "meander": 0.45, "sleep": 0.1}


@dataclass(frozen=True)
class BeliefSettings:
    """What a belief assumes, and how much of it is kept."""

    most_states: int = 256
    """The likeliest so many states are kept"""
    least_weight: float = 1e-6
    """States less likely than this are dropped"""
    prior: Mapping[str, float] = field(default_factory=_prior)
    """How likely each attacker is before anything was seen"""

    def __post_init__(self) -> None:
        whole("most_states", self.most_states, 1, 2**20)
        if not 0 <= self.least_weight < 1:
            raise UserError(f"least_weight must be at least 0 and below 1; got {self.least_weight}.")
        odds = list(self.prior.values())
        if set(self.prior) - set(SCRIPTED_REDS) or not odds or min(odds) < 0 or abs(sum(odds) - 1) > 1e-9:
            names = ", ".join(SCRIPTED_REDS)
            raise UserError(f"prior must give probabilities of {names} that sum to 1; got {dict(self.prior)}.")
