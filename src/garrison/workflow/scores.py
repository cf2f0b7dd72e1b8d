"""What a defender got under an order."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.tasks.cage2 import Cage2Settings
from garrison.workflow.orders import label, name_of

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


def table(tables: dict[str, list[Score]], env: Cage2Settings, episodes: int, seed: int) -> str:
    """Return the scores as a table, a row for each order, the best reward of the first defender on top."""
    first, *others = tables
    widths = [max(16, len(name) + 2) for name in others]
    lines = [
        f"{first}, against {env.red}, rules {env.rules}, {env.length} steps, {episodes} episodes per order, "
        f"seed {seed}",
        "",
        f"{'':4} {'':50} {'reward':>16} {'compliance':>14} {'fixes':>6}"
        + "".join(f"{name:>{width}}" for name, width in zip(others, widths, strict=True)),
    ]
    for row in sorted(range(len(tables[first])), key=lambda k: -tables[first][k].reward):
        score = tables[first][row]
        beside = (tables[name][row] for name in others)
        lines.append(
            f"{score.order:4} {label(score.order):50} {f'{score.reward:.2f} ± {score.reward_ci95:.2f}':>16} "
            f"{f'{score.compliance:.3f} ± {score.compliance_ci95:.3f}':>14} {score.fixes:6.1f}"
            + "".join(
                f"{f'{b.reward:.1f} | {b.compliance:.2f}':>{width}}" for b, width in zip(beside, widths, strict=True)
            )
        )
    lines += ["", "mean over the orders:"]
    for name, scores in tables.items():
        reward = sum(s.reward for s in scores) / len(scores)
        compliance = sum(s.compliance for s in scores) / len(scores)
        lines.append(f"  {name:<24} reward {reward:9.2f}   compliance {compliance:.3f}")
    best = max(tables[first], key=lambda score: score.reward)
    lines += ["", f"best reward: {name_of(best.order)} ({best.order})   (± is a 95 % interval)"]
    return "\n".join(lines)
