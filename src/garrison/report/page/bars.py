"""Charts of bars: groups, upright or lying, and lying bars stacked from parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from garrison.formatting import short
from garrison.report.page.charts import Chart, nothing, series_legend
from garrison.report.page.scale import Scale, finite, scale
from garrison.report.page.svg import (
    CHARACTER,
    WIDTH,
    Frame,
    colour,
    colour_class,
    element,
    escape,
    frame,
    picture,
    row_label,
    row_room,
    tip,
)

LINE = 15.0  # pixels of a line of a group's name
ROW = 26.0  # pixels of one lying bar with the gap below it
THIN = 16.0  # pixels of one lying bar in a group of several


@dataclass(frozen=True)
class Bars:
    """One bar in each group; `low` and `high` are error bars, `doubtful` bars are pale, None leaves a gap."""

    name: str
    values: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    doubtful: Sequence[bool] = ()


def bars(
    groups: Sequence[str],
    series: Sequence[Bars],
    *,
    y_label: str = "",
    log: bool = False,
    height: float = 320,
    width: float = WIDTH,
    name: str = "",
) -> Chart:
    """Return groups of bars, one bar of each series in a group, from 0 (or from the lowest tick if `log`).

    They are upright, of this height, unless a word of a group's name is too long to stand below them: then they lie.
    """
    values = finite([v for s in series for v in (*s.values, *s.low, *s.high)], log)
    if not values or not groups:
        return nothing(width=width)
    y = scale(values, log=log, zero=not log)
    wide = int((width - 80) / len(groups) / CHARACTER)
    names = [wrap(group, max(1, wide), break_long_words=False) or [""] for group in groups]
    if max(len(line) for name in names for line in name) > wide:
        return _lying(groups, series, y, y_label, width, name)
    deep = max(map(len, names))
    box = frame(scale([0, len(groups)]), y, height, y_label, "", bottom_room=12 + LINE * deep, width=width)
    slot = (box.right - box.left) / len(groups)
    thick = min(46.0, slot * 0.8 / len(series))
    parts = [box.draw("", y_label, x_ticks=False)]
    for g, words in enumerate(names):
        middle = box.left + (g + 0.5) * slot
        for k, text in enumerate(words):
            down = box.bottom + 18 + k * LINE
            parts.append(element("text", escape(text), class_="tick middle", x=middle, y=down))
        for k, one in enumerate(series):
            if g < len(one.values) and y.shows(one.values[g]):
                parts.append(_bar(one, g, colour(k), middle + (k - len(series) / 2) * thick, thick, box))
    legend = series_legend([s.name for s in series])
    return Chart(picture(height, *parts, name=name or y_label, width=width), legend)


def _lying(groups: Sequence[str], series: Sequence[Bars], x: Scale, x_label: str, width: float, name: str) -> Chart:
    """Return the groups below one another, their names on the left in one line."""
    left = row_room(groups, width)
    room = max(ROW, THIN * len(series) + 8)
    thick = (room - 8) / len(series)
    bottom = 8 + room * len(groups)
    box = Frame(x, scale([0, 1], ticks=[0]), left, 8.0, width - 20.0, bottom)
    drawn = [box.draw(x_label, "", y_ticks=False)]
    for g, group in enumerate(groups):
        top = 8 + g * room
        drawn.append(row_label(group, left - 8, top + room / 2 + 4))
        for k, one in enumerate(series):
            if g < len(one.values) and x.shows(one.values[g]):
                drawn.append(_lying_bar(one, g, colour(k), top + 4 + k * thick, thick, box))
    height = bottom + (44 if x_label else 26)
    return Chart(picture(height, *drawn, name=name or x_label, width=width), series_legend([s.name for s in series]))


def _lying_bar(one: Bars, g: int, colour_class: str, top: float, thick: float, box: Frame) -> str:
    value = one.values[g] or 0.0
    ends = sorted((box.left if box.x.log else box.at_x(0.0), box.at_x(value)))
    inside = [_rectangle(one, g, x=ends[0], y=top + 1, width=ends[1] - ends[0], height=max(1.0, thick - 2))]
    if (span := _span(one, g, box.x)) is not None:
        low, high = (box.at_x(end) for end in span)
        inside.append(element("path", class_="error over", d=f"M{low:.1f} {top + thick / 2:.1f}H{high:.1f}"))
    return element("g", *inside, class_=colour_class)


def _bar(one: Bars, g: int, colour_class: str, left: float, width: float, box: Frame) -> str:
    value = one.values[g] or 0.0
    floor = box.bottom if box.y.log else box.at_y(0.0)
    top = box.at_y(value)
    inside = [_rectangle(one, g, x=left + 1, y=min(top, floor), width=max(1.0, width - 2), height=abs(floor - top))]
    if (span := _span(one, g, box.y)) is not None:
        bottom, up = (box.at_y(end) for end in span)
        inside.append(element("path", class_="error over", d=f"M{left + width / 2:.1f} {bottom:.1f}V{up:.1f}"))
    return element("g", *inside, class_=colour_class)


def _rectangle(one: Bars, g: int, **place: float) -> str:
    doubtful = g < len(one.doubtful) and one.doubtful[g]
    text = tip(f"{one.name}: {short(one.values[g] or 0.0)}")
    return element("rect", text, class_="bar doubtful" if doubtful else "bar", **place)


def _span(one: Bars, g: int, axis: Scale) -> tuple[float, float] | None:
    """Return the ends of a bar's error bar, if it has one that the axis can show."""
    if g < min(len(one.low), len(one.high)):
        low, high = one.low[g], one.high[g]
        if low is not None and high is not None and axis.shows(low) and axis.shows(high):
            return low, high
    return None


def stacked(
    rows: Sequence[str],
    parts: Mapping[str, Sequence[float]],
    *,
    x_label: str = "",
    share: bool = False,
    colours: Sequence[str] = (),
    width: float = WIDTH,
    name: str = "",
) -> Chart:
    """Return one lying bar per row, made of `parts` (name: a number per row); `share` makes each 100 %.

    `colours` are names of the palette, one for each part; by default those of series.
    """
    kinds = [colour_class(name) for name in colours] or [colour(k) for k in range(len(parts))]
    totals = [sum(max(0.0, values[r]) for values in parts.values()) for r in range(len(rows))]
    if not rows or not any(totals):
        return nothing(width=width)
    factors = [100 / total if total else 0.0 for total in totals] if share else [1.0] * len(rows)
    x = scale([0.0, *(t * f for t, f in zip(totals, factors, strict=True))])
    left = row_room(rows, width)
    bottom = 8 + ROW * len(rows)
    height = bottom + (44 if x_label or share else 26)
    box = Frame(x, scale([0, 1], ticks=[0]), left, 8.0, width - 20.0, bottom)
    drawn = [box.draw(x_label or ("%" if share else ""), "", y_ticks=False)]
    for r, row in enumerate(rows):
        top = 8 + r * ROW
        drawn.append(row_label(row, left - 8, top + ROW / 2 + 2))
        at = 0.0
        for k, (part, values) in enumerate(parts.items()):
            size = max(0.0, values[r]) * factors[r]
            if size:
                unit = f"{size:.3g} %" if share else short(size)
                place = {"x": box.at_x(at), "width": box.at_x(at + size) - box.at_x(at)}
                text = tip(f"{row}, {part}: {unit}")
                bar = element("rect", text, class_="bar", y=top + 2, height=ROW - 7, **place)
                drawn.append(element("g", bar, class_=kinds[k]))
            at += size
    return Chart(picture(height, *drawn, name=name or x_label, width=width), tuple(zip(kinds, parts, strict=True)))
