"""What happened at a place of a chart, and numbers to compare with: lines across it, with their names."""

from collections.abc import Sequence
from dataclasses import dataclass

from garrison.formatting import short
from garrison.report.page.svg import CHARACTER, Frame, element, escape, tip

SMALL = 0.9  # of `CHARACTER`: these names are written smaller than the ticks
ROW = 13.0  # pixels of a line of names


@dataclass(frozen=True)
class Mark:
    """Something that happened at `x`: a line through the chart with its name, or a `tick` that only has a tip."""

    x: float
    text: str
    is_tick: bool = False


@dataclass(frozen=True)
class Level:
    """A number on the y axis that others are compared with."""

    y: float
    name: str


def draw_marks(marks: Sequence[Mark], box: Frame) -> str:
    """Return the marks that lie inside the frame; a name that would touch the one before it is left to its tip."""
    parts, taken = [], -1e9
    for mark in sorted(marks, key=lambda mark: mark.x):
        if not box.x.shows(mark.x) or not 0 <= box.x.place(mark.x) <= 1:
            continue
        at = box.at_x(mark.x)
        top = box.bottom - 7 if mark.is_tick else box.top
        parts.append(
            element(
                "line",
                tip(f"{mark.text}: {short(mark.x)}"),
                class_="mark tick" if mark.is_tick else "mark",
                x1=at,
                x2=at,
                y1=top,
                y2=box.bottom,
            )
        )
        wide = SMALL * CHARACTER * len(mark.text)
        if not mark.is_tick and at - wide > max(taken, box.left):
            parts.append(element("text", escape(mark.text), class_="name end", x=at - 4, y=box.bottom - 8))
            taken = at
    return "".join(parts)


def draw_levels(levels: Sequence[Level], box: Frame) -> str:
    """Return the levels that the axis can show, each named at the right end; of two in one place, one is named."""
    parts: list[str] = []
    rows: list[float] = []
    for level in levels:
        if not box.y.shows(level.y):
            continue
        at = box.at_y(level.y)
        text = f"{level.name} {short(level.y)}"
        parts.append(element("line", tip(text), class_="level", x1=box.left, x2=box.right, y1=at, y2=at))
        if all(abs(at - row) >= ROW for row in rows):
            parts.append(element("text", escape(text), class_="name end", x=box.right - 2, y=at - 4))
            rows.append(at)
    return "".join(parts)
