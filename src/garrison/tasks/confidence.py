"""Means of a few independent runs, and how far they can be trusted: 95 % intervals of Student's t."""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""Standard errors that the interval reaches to each side, with 1 to 10 degrees of freedom."""


class Interval(NamedTuple):
    """A mean, and how far its 95 % interval reaches to each side: infinitely far with a single run."""

    mean: float
    reach: float


def mean95(values: Sequence[float]) -> Interval:
    """Return the mean of independent runs.

    >>> mean, reach = mean95([1.0, 2.0, 3.0])
    >>> mean, round(reach, 2)
    (2.0, 2.48)
    """
    if len(values) < 2:
        return Interval(statistics.fmean(values), math.inf)
    error = math.sqrt(statistics.variance(values) / len(values))
    return Interval(statistics.fmean(values), _t95(len(values) - 1) * error)


def difference95(ours: Sequence[float], theirs: Sequence[float]) -> Interval:
    """Return by how much the mean of `ours` is higher: Welch's interval, which asks for no equal deviations."""
    difference = statistics.fmean(ours) - statistics.fmean(theirs)
    if min(len(ours), len(theirs)) < 2:
        return Interval(difference, math.inf)
    parts = [statistics.variance(values) / len(values) for values in (ours, theirs)]
    if not sum(parts):
        return Interval(difference, 0.0)
    shares = [part**2 / (len(values) - 1) for part, values in zip(parts, (ours, theirs), strict=True)]
    freedom = sum(parts) ** 2 / sum(shares)
    return Interval(difference, _t95(math.floor(freedom + 1e-9)) * math.sqrt(sum(parts)))


def _t95(freedom: int) -> float:
    return _T95[freedom - 1] if freedom <= len(_T95) else 1.96 + 2.5 / freedom
