"""Shares over time: areas on top of one another that fill the chart."""

from collections.abc import Mapping, Sequence

from garrison.report.page.charts import Chart, nothing
from garrison.report.page.scale import scale
from garrison.report.page.svg import WIDTH, Frame, colour, colour_class, element, frame, picture, tip


def areas(
    x: Sequence[float],
    parts: Mapping[str, Sequence[float]],
    *,
    x_label: str = "",
    colours: Sequence[str] = (),
    width: float = WIDTH,
    height: float = 260,
    name: str = "",
) -> Chart:
    """Return the share of each part at every x, the first part at the bottom; each place is made 100 %.

    `parts` has a number per x for each name; `colours` are names of the palette, by default those of series.
    """
    kinds = [colour_class(each) for each in colours] or [colour(k) for k in range(len(parts))]
    totals = [sum(max(0.0, values[k]) for values in parts.values()) for k in range(len(x))]
    shown = [k for k, total in enumerate(totals) if total > 0]
    if len(shown) < 2:
        return nothing(width=width)
    box = frame(scale([x[k] for k in shown], tight=True), scale([0, 100]), height, "%", x_label, width=width)
    drawn = []
    below = [0.0] * len(shown)
    for kind, (part, values) in zip(kinds, parts.items(), strict=True):
        sizes = [100 * max(0.0, values[k]) / totals[k] for k in shown]
        above = [low + size for low, size in zip(below, sizes, strict=True)]
        text = tip(f"{part}: {sum(sizes) / len(sizes):.3g} % on average")
        edge = _edge(box, x, shown, above) + " " + _edge(box, x, shown[::-1], below[::-1])
        drawn.append(element("polygon", text, class_=f"area {kind}", points=edge))
        below = above
    # The grid lies on top: areas would hide it.
    return Chart(
        picture(height, *drawn, box.draw(x_label, "%"), name=name or x_label, width=width),
        tuple(zip(kinds, parts, strict=True)),
    )


def _edge(box: Frame, x: Sequence[float], shown: Sequence[int], values: Sequence[float]) -> str:
    return " ".join(f"{box.at_x(x[k]):.1f},{box.at_y(value):.1f}" for k, value in zip(shown, values, strict=True))
