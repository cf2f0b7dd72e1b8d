"""From numbers to places: linear and logarithmic axes and their ticks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from garrison.formatting import UNITS, short

NEAR_ZERO = 0.1
"""An axis of positive numbers that begins below this share of its end begins at 0."""
ROUNDING = 1e-9
"""Numbers that differ by a smaller share than this are one number, such as means of a constant."""


def finite(values: Sequence[float | None], above_zero: bool = False) -> list[float]:
    """Return the values that can be drawn."""
    return [v for v in values if v is not None and math.isfinite(v) and (v > 0 or not above_zero)]


@dataclass(frozen=True)
class Scale:
    """An axis: the numbers at its ends, whether it is logarithmic, and its ticks."""

    low: float
    high: float
    log: bool
    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """Return where `value` lies: 0 at the low end, 1 at the high end."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def shows(self, value: float | None) -> bool:
        """Return whether this axis can show the value at all."""
        return value is not None and math.isfinite(value) and (value * self.low > 0 or not self.log)

    def labels(self) -> list[str]:
        """Write the ticks, with as many digits as tell them apart."""
        if self.log or len(self.ticks) < 2:
            return [short(t) for t in self.ticks]
        size, unit = next((s, u) for u, s in reversed(UNITS) if max(map(abs, self.ticks)) >= s or s == 1)
        step = (self.ticks[1] - self.ticks[0]) / size
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        if step * 10**digits % 1 > 1e-6:  # 2.5 needs a digit more than 2
            digits += 1
        return ["0" if t == 0 else f"{t / size:.{digits}f}{unit}" for t in self.ticks]


def scale(
    values: Sequence[float | None],
    *,
    log: bool = False,
    zero: bool = False,
    ticks: Sequence[float] = (),
    tight: bool = False,
) -> Scale:
    """Return an axis that covers `values`; `zero` includes 0, `ticks` are taken as they are.

    A `tight` one, which must not be logarithmic, ends where the values do, and not at a round number.
    """
    known = finite([*values, *ticks], above_zero=log)
    if log:
        low, high = (min(known), max(known)) if known else (1.0, 10.0)
        low, high = _log_ends(low, high, bool(ticks))
        wanted = tuple(sorted(set(finite(ticks, True)))) or _log_ticks(low, high)
        return Scale(low, high, True, wanted)
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low <= ROUNDING * max(abs(low), abs(high)):
        low, high = (low - abs(low) / 2, high + abs(high) / 2) if low else (0.0, 1.0)
    if ticks:
        return Scale(low, high, False, tuple(sorted(set(finite(ticks)))))
    step = _step((high - low) / 5)
    if tight:
        low = 0.0 if 0 < low < NEAR_ZERO * high else low
        inside = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
        return Scale(low, high, False, tuple(k * step for k in inside))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return Scale(first * step, last * step, False, tuple(k * step for k in range(first, last + 1)))


def cost_scale(values: Sequence[float | None]) -> Scale:
    """Return a logarithmic axis of negative numbers, which rises towards zero: -40 lies well below -15."""
    costs = scale([-v for v in finite(values)], log=True)
    return Scale(-costs.high, -costs.low, True, tuple(-t for t in reversed(costs.ticks)))


def _step(rough: float) -> float:
    size = 10.0 ** math.floor(math.log10(rough))
    return next(m * size for m in (1, 2, 2.5, 5, 10) if m * size >= rough * (1 - 1e-9))


def _log_ends(low: float, high: float, exact: bool) -> tuple[float, float]:
    if low == high:
        return low / 2, high * 2
    if exact:
        return low, high
    if high / low > 30:
        return 10.0 ** math.floor(math.log10(low) + 1e-9), 10.0 ** math.ceil(math.log10(high) - 1e-9)
    return low / 1.15, high * 1.15


def _log_ticks(low: float, high: float) -> tuple[float, ...]:
    decades = math.log10(high / low)
    digits: tuple[float, ...] = (1,) if decades > 2.5 else (1, 2, 5) if decades > 1.2 else (1, 1.5, 2, 3, 4, 5, 6, 8)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    if decades > 8:
        powers = powers[:: math.ceil(decades / 8)]
    slack = 1 + 1e-9
    found = tuple(d * 10.0**p for p in powers for d in digits if low / slack <= d * 10.0**p <= high * slack)
    return found if len(found) > 1 else (low, high)
