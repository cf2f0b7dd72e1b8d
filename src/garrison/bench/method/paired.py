"""How many times another a row is: over the same turns where the two took turns, else over the same rounds."""

from typing import NamedTuple

from garrison.bench.method.estimate import Estimate, estimate_ratio
from garrison.bench.method.labels import Labels


class RoundRates(NamedTuple):
    """A row's steps per second in each round, and its partner's in the same turns."""

    labels: Labels
    partner: Labels | None
    rates: list[float]
    beside: list[float]
    """0.0 where a round had no partner to take turns with."""


def compare(row: RoundRates, base: RoundRates) -> Estimate | None:
    """Return the ratio of two rows; None if no round has both.

    Rows that have the same partner are compared by their ratios to it: they may have met it in different minutes.
    """
    if row.partner == base.labels and all(row.beside):
        return estimate_ratio(row.rates, row.beside)
    if base.partner == row.labels and all(base.beside):
        return estimate_ratio(base.beside, base.rates)
    if row.partner and row.partner == base.partner and all(row.beside) and all(base.beside):
        return estimate_ratio(_relative(row), _relative(base))
    return estimate_ratio(row.rates, base.rates)


def _relative(row: RoundRates) -> list[float]:
    return [rate / beside for rate, beside in zip(row.rates, row.beside, strict=True)]
