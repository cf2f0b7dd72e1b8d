"""The challenge's final table, and the place of a score in it."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

EVALUATED_REDS = ("bline", "meander", "sleep")
LENGTHS = (30, 50, 100)
TABLE_RULES = "leaderboard"
"""The rules that every row of the table was made under: scores under others do not compare."""


@dataclass(frozen=True)
class LeaderboardRow:
    """One entry of the table."""

    rank: int
    team: str
    method: str
    total: float
    ci95: float
    cells: tuple[float, ...]
    """Mean returns, in the order of `LENGTHS` and within each of `EVALUATED_REDS`"""

    def cell(self, red: str, length: int) -> float:
        """Return the mean return against `red` with episodes of `length` steps."""
        return self.cells[LENGTHS.index(length) * len(EVALUATED_REDS) + EVALUATED_REDS.index(red)]


@cache
def leaderboard() -> tuple[LeaderboardRow, ...]:
    """Return the table, best first."""
    rows = tomllib.loads(Path(__file__).with_name("leaderboard.toml").read_text())["rows"]
    return tuple(
        LeaderboardRow(rank, r["team"], r["method"], r["total"], r["ci95"], tuple(r["cells"]))
        for rank, r in enumerate(rows, 1)
    )


def rank_of(total: float) -> int:
    """Return the place that a total would have, 1 for the best."""
    return 1 + sum(row.total > total for row in leaderboard())


def marks(odds: dict[str, float], length: int, rules: str) -> dict[str, float]:
    """Return what known defenders score on average against this mixture; nothing for other lengths, rules or tasks."""
    if not odds or not set(odds) <= {*EVALUATED_REDS} or length not in LENGTHS or rules != TABLE_RULES:
        return {}
    table = leaderboard()
    known = {"random": table[18], "react-restore": table[17], "the winner": table[0]}
    return {name: sum(share * row.cell(red, length) for red, share in odds.items()) for name, row in known.items()}
