"""A curve as small as a word, for a table's cell."""

from collections.abc import Sequence

from garrison.report.page.scale import finite
from garrison.report.page.svg import element, escape

WIDTH, HEIGHT = 120.0, 28.0
EDGE = 2.5  # pixels that the line and its last point keep from the border


def sparkline(values: Sequence[float], low: Sequence[float] = (), high: Sequence[float] = (), *, name: str = "") -> str:
    """Return a curve of evenly spaced values, with a band if `low` and `high` are given; nothing without two values."""
    known = finite([*values, *low, *high])
    if len(values) < 2 or len(finite(values)) < len(values):
        return ""
    least, most = min(known), max(known)
    room = WIDTH - 2 * EDGE

    def at(k: int, value: float) -> str:
        share = (value - least) / (most - least) if most > least else 0.5
        return f"{EDGE + room * k / (len(values) - 1):.1f},{HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * share:.1f}"

    parts = []
    if len(low) == len(high) == len(values):
        edge = [at(k, value) for k, value in enumerate(high)]
        edge += [at(k, low[k]) for k in reversed(range(len(low)))]
        parts.append(element("polygon", class_="band", points=" ".join(edge)))
    places = [at(k, value) for k, value in enumerate(values)]
    end_x, end_y = places[-1].split(",")
    parts.append(element("polyline", class_="line", points=" ".join(places)))
    parts.append(element("circle", class_="point", cx=end_x, cy=end_y, r=2.5))
    label = element("title", escape(name)) if name else ""
    return f'<svg class="spark c0" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img">{label}{"".join(parts)}</svg>'
