"""What the rounds of a measurement say about a rate or a ratio: one number and its 95 % interval.

The number is Hodges and Lehmann's, the median of the means of all pairs of rounds; the interval is Wilcoxon's, which
counts signed ranks. Student's t would cover as well, but one repeat in ten that loses its core widens it so much that
it asks for at least four times as many rounds. All of it is on logarithms, since a busy machine makes things slower by
a factor, and so that a ratio and its inverse are equally sure.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from garrison.formatting import plural, ratio, short

CONFIDENCE = 0.95
NARROW = 0.05
"""The full width of the widest interval that may be quoted: its upper end over its lower end, less one."""
FEWEST = 6
"""Rounds that an interval needs: that all of fewer lie on the same side of the truth is not unlikely enough."""
RANGED = 0.10
"""Half a width above which an interval is written as its ends: it is no longer the same to both sides."""


class Estimate(NamedTuple):
    """A number, and the ends of its interval; with fewer rounds than `FEWEST`, of all that was seen."""

    value: float
    low: float
    high: float
    rounds: int

    @property
    def is_interval(self) -> bool:
        """Whether the ends are those of a 95 % interval."""
        return self.rounds >= FEWEST and self.low > 0

    @property
    def is_narrow(self) -> bool:
        """Whether the number may be quoted."""
        return self.is_interval and self.high / self.low - 1 <= NARROW

    def scaled(self, factor: float) -> "Estimate":
        """Return the estimate of so many times the number."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor, self.rounds)

    def inverse(self) -> "Estimate":
        """Return the estimate of one over the number, such as the time of a step; nothing has no inverse."""
        value, high, low = (1 / number if number else math.inf for number in self[:3])
        return Estimate(value, low, high, self.rounds)

    def text(self, write: Callable[[float], str] = short) -> str:
        """Write the number with its interval, or the range of rounds that are too few to have one."""
        if self.is_interval and self._half <= RANGED:
            return f"{write(self.value)} ± {self._half:.1%}"
        low, high = write(self.low), write(self.high)
        return low if low == high else f"{low} to {high}"

    def times(self) -> str:
        """Write the number as a ratio."""
        return self.text(ratio)

    def share(self) -> str:
        """Write the number as a share, with what its interval has to each side, in points."""
        if self.is_interval and self._half <= RANGED:
            return f"{100 * self.value:.1f} ± {50 * (self.high - self.low):.1f}%"
        return self.text("{:.0%}".format)

    @property
    def caveat(self) -> str:
        """What has to be said behind the number where no table says it: that it is the range of a few rounds."""
        return f" in {plural(self.rounds, 'round')}" if self.rounds and not self.is_interval else ""

    @property
    def _half(self) -> float:
        return math.sqrt(self.high / self.low) - 1


def estimate(values: Sequence[float]) -> Estimate:
    """Return what independent rounds say about a positive number; nothing can be said without one."""
    if min(values) <= 0:  # nothing was finished in a time that is too short
        return Estimate(statistics.median(values), 0.0, max(values), len(values))
    logarithms = np.log(values)
    first, second = np.triu_indices(len(values))
    means = np.sort((logarithms[first] + logarithms[second]) / 2)
    value = math.exp(float(np.median(means)))
    if len(values) < FEWEST:
        return Estimate(value, min(values), max(values), len(values))
    outside = _outside(len(values))
    return Estimate(value, math.exp(means[outside]), math.exp(means[-1 - outside]), len(values))


def estimate_ratio(values: Sequence[float], bases: Sequence[float]) -> Estimate | None:
    """Return the ratio of two rows, round by round, over the rounds that both have; None if there is none."""
    pairs = [(value, base) for value, base in zip(values, bases, strict=False) if base > 0]
    return estimate([value / base for value, base in pairs]) if pairs else None


@cache
def _outside(rounds: int) -> int:
    """Return how many means of pairs lie below the interval, and as many above it.

    Were the number known, the ranks of the rounds above it would add up to each sum as often as subsets of the ranks
    do; so many sums together are less likely than what the interval may miss on one side.
    """
    chances = np.zeros(rounds * (rounds + 1) // 2 + 1)
    chances[0] = 1.0
    for rank in range(1, rounds + 1):  # each rank is among them or not, with the same chance
        with_it = np.zeros_like(chances)
        with_it[rank:] = chances[:-rank]
        chances = (chances + with_it) / 2
    return int(np.searchsorted(np.cumsum(chances), (1 - CONFIDENCE) / 2, side="right")) - 1
