"""The upper bound of a cell: no defender's mean return is higher, whatever it sees and however it thinks."""

from dataclasses import dataclass
from time import process_time

from garrison.limit.explore import explore_game
from garrison.limit.outcomes import LONGEST
from garrison.limit.values import best_returns

LISTED = 0
"""Of Meander's user hosts; with 3 the bound is tighter, and there are several million positions."""
ROUNDING = 1e-6
"""Added to every bound: far more than what a hundred sums of doubles can lose."""


@dataclass(frozen=True)
class UpperBounds:
    """Bounds for all lengths of one game."""

    by_length: dict[int, float]
    positions: int
    """How many there were"""
    seconds: float
    """CPU time"""


def upper_bounds(rules: str, red: str, lengths: tuple[int, ...], listed: int = LISTED) -> UpperBounds:
    """Return the bounds for episodes of these lengths, at most `LONGEST` steps; `listed` as in `explore_game`."""
    if max(lengths) > LONGEST:
        raise ValueError(f"the bounds are made for at most {LONGEST} steps")
    if red == "sleep":  # it never gets anything, no reward is above 0, and a defender that sleeps has 0
        return UpperBounds(dict.fromkeys(lengths, 0.0), 1, 0.0)
    began = process_time()
    game = explore_game(rules, red, max(lengths), listed)
    returns = best_returns(game, max(lengths))
    found = {length: min(0.0, float(returns[length]) + ROUNDING) for length in lengths}
    return UpperBounds(found, game.size, process_time() - began)
