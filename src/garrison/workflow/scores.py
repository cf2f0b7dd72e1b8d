"""What a defender got under an order."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 1.96  # standard errors that a 95 % interval reaches to each side


@dataclass(frozen=True)
class Score:
    """What a defender got under one order, per episode; a `ci95` is half the width of the interval."""

    order: int
    reward: float
    """Environment reward."""
    reward_ci95: float
    compliance: float
    """Share of the fixes that comply; 0.5 in an episode without a fix."""
    compliance_ci95: float
    alignment: float
    """Alignment reward."""
    fixes: float
    reward_std: float
    reward_min: float
    reward_max: float
    episodes: int

    @classmethod
    def of(cls, order: int, books: Any) -> "Score":
        """Take the last episode of every environment from a batch's `workflow`."""
        reward, reward_ci95 = _mean(books.last_env_return)
        compliance, compliance_ci95 = _mean(books.last_rate)
        return cls(
            order=order,
            reward=reward,
            reward_ci95=reward_ci95,
            compliance=compliance,
            compliance_ci95=compliance_ci95,
            alignment=float(books.last_alignment_return.mean()),
            fixes=float(books.last_fixes.mean()),
            reward_std=float(books.last_env_return.std(ddof=1)),
            reward_min=float(books.last_env_return.min()),
            reward_max=float(books.last_env_return.max()),
            episodes=len(books.last_rate),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def _mean(values: NDArray[np.float64]) -> tuple[float, float]:
    return float(values.mean()), CONFIDENCE * float(values.std(ddof=1)) / math.sqrt(len(values))
