"""Charts of points: lines with markers, error bars or bands, and scatters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from garrison.formatting import short
from garrison.report.page.chart_marks import Level, Mark, draw_levels, draw_marks
from garrison.report.page.scale import Scale, cost_scale, finite, scale
from garrison.report.page.svg import WIDTH, Frame, colour, element, escape, frame, picture, tip

MARKED = 60
"""A line of more points than this is drawn without markers."""


@dataclass(frozen=True)
class Chart:
    """A drawn chart: its SVG, and (class, name) of each entry of its legend."""

    svg: str
    legend: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Series:
    """Named points; `low` and `high` are error bars or a band, `doubtful` points hollow, `tips` what a point says.

    A `faint` line is drawn behind the others in the colour of the series after it, and the legend does not name it. A
    line chart shows the points alone of a series that is not `joined`.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    doubtful: Sequence[bool] = ()
    tips: Sequence[str] = ()
    dashed: bool = False
    marked: bool = True
    faint: bool = False
    joined: bool = True


class Axes(NamedTuple):
    """What a chart's axes are: `zero` includes 0 on the y axis, `costs` are negative numbers on a logarithmic one."""

    x_label: str = ""
    y_label: str = ""
    log_x: bool = False
    log_y: bool = False
    zero: bool = False
    costs: bool = False
    height: float = 340
    width: float = WIDTH
    own_ticks: bool = True


def lines(
    series: Sequence[Series],
    *,
    x_label: str = "",
    y_label: str = "",
    log_x: bool = False,
    log_y: bool = False,
    zero: bool = False,
    costs: bool = False,
    band: bool = False,
    marks: Sequence[Mark] = (),
    levels: Sequence[Level] = (),
    height: float = 340,
    width: float = WIDTH,
    own_ticks: bool = True,
    name: str = "",
) -> Chart:
    """Return a line chart; see `Axes`; `band` fills between `low` and `high` instead of bars.

    Few whole numbers on the x axis are their `own_ticks`; else it has round ones, and ends where the data does. `name`
    is what those hear who cannot see it; by default what its axes are.
    """
    axes = Axes(x_label, y_label, log_x, log_y, zero, costs, height, width, own_ticks)
    return _chart(series, axes, joined=True, band=band, marks=marks, levels=levels, name=name)


def scatter(
    series: Sequence[Series],
    *,
    x_label: str = "",
    y_label: str = "",
    log_x: bool = False,
    log_y: bool = False,
    zero: bool = False,
    marks: Sequence[Mark] = (),
    height: float = 340,
    width: float = WIDTH,
    name: str = "",
) -> Chart:
    """Return a chart of points that no line joins."""
    axes = Axes(x_label, y_label, log_x, log_y, zero, height=height, width=width)
    return _chart(series, axes, joined=False, band=False, marks=marks, name=name)


def series_legend(names: Sequence[str], dashed: Sequence[bool] = ()) -> tuple[tuple[str, str], ...]:
    """Return the legend's entries; one series needs none."""
    if len(names) < 2:
        return ()
    marks = [*dashed, *[False] * (len(names) - len(dashed))]
    return tuple((colour(k) + (" dashed" if marks[k] else ""), name) for k, name in enumerate(names))


def nothing(height: float = 80, width: float = WIDTH) -> Chart:
    """Return what stands where there is nothing to draw."""
    text = element("text", "no data", class_="label middle", x=width / 2, y=height / 2)
    return Chart(picture(height, text, name="no data", width=width))


def _chart(
    series: Sequence[Series],
    axes: Axes,
    joined: bool,
    band: bool,
    marks: Sequence[Mark] = (),
    levels: Sequence[Level] = (),
    name: str = "",
) -> Chart:
    xs = finite([x for s in series for x in s.x], axes.log_x)
    ys = finite([y for s in series for y in (*s.y, *s.low, *s.high)], axes.log_y)
    if not xs or not ys:
        return nothing(width=axes.width)
    ys += finite([level.y for level in levels], axes.log_y)
    distinct = sorted(set(xs))
    y = cost_scale(ys) if axes.costs else scale(ys, log=axes.log_y, zero=axes.zero and not axes.log_y)
    # Few whole numbers, such as 1, 10, 20, 100 environments, are their own best ticks.
    countable = joined and axes.own_ticks and len(distinct) <= 8 and all(x == int(x) for x in distinct)
    tight = not axes.own_ticks and not axes.log_x
    x = scale(xs, log=axes.log_x, ticks=distinct if countable else (), tight=tight)
    box = frame(x, y, axes.height, axes.y_label, axes.x_label, width=axes.width)
    parts = [box.draw(axes.x_label, axes.y_label), draw_levels(levels, box), draw_marks(marks, box)]
    number = 0
    for one in series:
        parts.append(_draw(one, colour(number), box, joined and one.joined, band and one.joined))
        number += not one.faint
    named = [one for one in series if not one.faint]
    name = name or " against ".join(filter(None, (axes.y_label, axes.x_label)))
    return Chart(
        picture(axes.height, *parts, name=name, width=axes.width),
        series_legend([s.name for s in named], [s.dashed for s in named]),
    )


def _draw(series: Series, colour_class: str, box: Frame, joined: bool, band: bool) -> str:
    shown = [k for k, (x, y) in enumerate(zip(series.x, series.y, strict=True)) if box.x.shows(x) and box.y.shows(y)]
    pixels = {k: (box.at_x(series.x[k]), box.at_y(series.y[k] or 0.0)) for k in shown}
    spans = _spans(series, shown, box.y)
    parts = []
    if band and spans:
        edge = [(pixels[k][0], box.at_y(high)) for k, (_, high) in spans.items()]
        edge += [(pixels[k][0], box.at_y(low)) for k, (low, _) in reversed(spans.items())]
        parts.append(element("polygon", class_="band", points=_points(edge)))
    if joined and len(shown) > 1:
        kind = "line faint" if series.faint else "line dashed" if series.dashed else "line"
        parts.append(element("polyline", class_=kind, points=_points(list(pixels.values()))))
    if not band:
        parts += [
            element("path", class_="error", d=_error(pixels[k][0], box.at_y(low), box.at_y(high)))
            for k, (low, high) in spans.items()
        ]
    if not series.faint and (not joined or (series.marked and len(shown) <= MARKED)):
        parts += [_marker(series, k, pixels[k]) for k in shown]
    return element("g", *parts, class_=colour_class)


def _spans(series: Series, shown: Sequence[int], y: Scale) -> dict[int, tuple[float, float]]:
    found = {}
    for k in shown:
        if k < min(len(series.low), len(series.high)):
            low, high = series.low[k], series.high[k]
            if low is not None and high is not None and y.shows(low) and y.shows(high):
                found[k] = (low, high)
    return found


def _marker(series: Series, k: int, at: tuple[float, float]) -> str:
    text = series.tips[k] if k < len(series.tips) else f"{short(series.x[k])}: {short(series.y[k] or 0.0)}"
    doubtful = k < len(series.doubtful) and series.doubtful[k]
    kind = "point doubtful" if doubtful else "point"
    return element("circle", tip(f"{series.name}, {text}"), class_=kind, cx=at[0], cy=at[1], r=4)


def _error(x: float, low: float, high: float) -> str:
    return escape(f"M{x - 4:.1f} {low:.1f}h8M{x:.1f} {low:.1f}V{high:.1f}M{x - 4:.1f} {high:.1f}h8")


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
