"""Every defender against every attacker: the matrix of Blue's mean returns, in which Red's are the same negated."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from garrison.agents.load import load_agent
from garrison.challenge.evaluation import evaluate, name_of

if TYPE_CHECKING:
    from garrison.challenge.evaluation import OneRed


@dataclass(frozen=True)
class Payoffs:
    """What each defender gets against each attacker: a row for each defender."""

    blues: tuple[str, ...]
    reds: tuple[str, ...]
    rules: str
    length: int
    episodes: int
    seed: int
    means: tuple[tuple[float, ...], ...]
    """Blue's mean return"""
    ci95: tuple[tuple[float, ...], ...]
    """Half the width of its 95 % confidence interval"""

    @property
    def worst(self) -> tuple[float, ...]:
        """What each defender gets against the attacker that is worst for it."""
        return tuple(min(row) for row in self.means)

    def to_dict(self) -> dict[str, Any]:
        """Return the matrix as `--json` prints it."""
        return {**asdict(self), "worst": self.worst}

    def to_text(self) -> str:
        """Return the matrix as a table."""
        heading = ["", *self.reds, "worst"]
        rows = [
            [blue, *(f"{mean:.2f} ± {ci:.2f}" for mean, ci in zip(means, reaches, strict=True)), f"{worst:.2f}"]
            for blue, means, reaches, worst in zip(self.blues, self.means, self.ci95, self.worst, strict=True)
        ]
        first, *widths = (max(len(row[k]) for row in [heading, *rows]) for k in range(len(heading)))
        lines = []
        for row in [heading, *rows]:
            words = (f"  {word:>{width}}" for word, width in zip(row[1:], widths, strict=True))
            lines.append(f"{row[0]:<{first}}{''.join(words)}")
        told = f"{self.length} steps, {self.episodes} episodes, rules {self.rules}, seed {self.seed}"
        return "\n".join([f"Blue's mean return, {told}", "", *lines])


def payoffs(
    blues: Sequence[str],
    reds: "Sequence[OneRed]",
    rules: str,
    length: int,
    episodes: int,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> Payoffs:
    """Play every defender against every attacker, all under the same rules and with the same seeds.

    Args:
        blues: what `garrison.load_agent` takes.
        reds: attackers, as `garrison.evaluate` takes them.
        rules: `head` or `leaderboard`.
        length: steps per episode.
        episodes: of each pair.
        seed: decides every draw.
        say: is told what is being played.
    """
    means, reaches = [], []
    for blue in blues:
        say(f"{blue} against {', '.join(map(name_of, reds))}")
        cells = evaluate(load_agent(blue), rules, episodes, seed, reds, [length]).cells
        means.append(tuple(round(cell.mean, 6) for cell in cells))
        reaches.append(tuple(round(1.96 * cell.stderr, 6) for cell in cells))
    names = tuple(map(name_of, reds))
    return Payoffs(tuple(blues), names, rules, length, episodes, seed, tuple(means), tuple(reaches))
