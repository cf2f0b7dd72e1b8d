"""Pictures made of characters: bars, small curves, and lines that break between their parts."""

from itertools import pairwise
from math import log1p

SPARKS = "▁▂▃▄▅▆▇█"


def bar(share: float, width: int, trough: str = "░") -> str:
    """Return a bar of blocks.

    >>> bar(0.5, 4)
    '██░░'
    """
    full = round(max(0.0, min(1.0, share)) * width)
    return "█" * full + trough * (width - full)


def on_scale(values: list[float]) -> list[float]:
    """Return where values lie between the best, 0, and the worst, 1.

    Costs, none above 0, lie on a logarithmic scale, where -15 and -40 differ beside -600.

    >>> [round(place, 2) for place in on_scale([-15.0, -40.0, -600.0])]
    [0.0, 0.26, 1.0]
    """
    if max(values, default=0.0) <= 0:
        values = [-log1p(-value) for value in values]
    best, worst = max(values, default=0.0), min(values, default=0.0)
    return [(best - value) / (best - worst) if worst < best else 0.0 for value in values]


def sparkline(values: list[float], width: int) -> str:
    """Return a curve of one line, the newest value last; many values are averaged into `width` columns.

    >>> sparkline([-600.0, -100.0, -40.0, -15.0], 10)
    '▁▄▆█'
    """
    count = min(len(values), width)
    bounds = [k * len(values) // count for k in range(count + 1)] if count > 0 else []
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(bounds)]
    return "".join(SPARKS[round((1.0 - place) * (len(SPARKS) - 1))] for place in on_scale(means))


def rows_of(parts: list[str], width: int, gap: str) -> list[list[str]]:
    """Divide parts into rows that, joined by `gap`, are no longer than `width`; no part is broken."""
    rows: list[list[str]] = []
    for part in parts:
        if rows and len(gap.join([*rows[-1], part])) <= width:
            rows[-1].append(part)
        else:
            rows.append([part])
    return rows


def fit(parts: list[str], width: int, gap: str) -> str:
    """Join parts to lines no longer than `width`; no part is broken.

    >>> fit(["act 25 %", "learn 75 %"], 12, "   ")
    'act 25 %\\nlearn 75 %'
    """
    return "\n".join(gap.join(row) for row in rows_of(parts, width, gap))
