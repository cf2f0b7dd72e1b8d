"""What a defender got under an order."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.tasks.cage2 import Cage2Settings
from garrison.workflow.orders import ARROW, label, name_of

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
    """Return the scores as tables of 80 columns, the order with the best reward of the first defender on top."""
    first, *others = tables
    rows = sorted(range(len(tables[first])), key=lambda k: -tables[first][k].reward)
    lines = [
        first,
        f"against {env.red}, rules {env.rules}, {env.length} steps, {episodes} episodes per order, seed {seed}",
        "",
        f"{'order':46}{'reward':>15}{'compliance':>13}{'fixes':>6}",
    ]
    for score in (tables[first][row] for row in rows):
        order, digits = label(score.order).replace(ARROW, ARROW.strip()), 2 if abs(score.reward) < 100 else 1
        reward = f"{score.reward:.{digits}f} ± {score.reward_ci95:.{digits}f}"
        compliance = f"{score.compliance:.3f}±{score.compliance_ci95:.3f}"
        lines.append(f"{score.order:3} {order:42}{reward:>15}{compliance:>13}{score.fixes:6.1f}")
    if others:  # in a table of their own, because a line holds no more
        lines += [
            "",
            "reward | compliance of the scripted defenders",
            "order" + "".join(f"{name:>17}" for name in others),
        ]
    for row in rows if others else ():
        cells = (f"{tables[name][row].reward:.1f} | {tables[name][row].compliance:.2f}" for name in others)
        lines.append(f"{tables[first][row].order:5}" + "".join(f"{text:>17}" for text in cells))
    lines += ["", "mean over the orders:"]
    for name, scores in tables.items():
        mean, rate = (
            sum(values) / len(scores) for values in zip(*((s.reward, s.compliance) for s in scores), strict=True)
        )
        lines.append(f"  {name:<24} reward {mean:9.2f}   compliance {rate:.3f}")
    best = max(tables[first], key=lambda score: score.reward)
    lines += ["", f"best reward: {name_of(best.order)} ({best.order})", "± is a 95 % interval"]
    return "\n".join(lines)
