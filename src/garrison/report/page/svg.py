"""Elements of SVG as text, and the frame that charts with two axes share."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from garrison.report.page.scale import Scale
from garrison.viewer import palette

WIDTH = 720
BROAD = 900
"""Of a chart that has a wide page for itself."""
NARROW = 400
"""Of a chart that stands beside others, or on a phone."""
CHARACTER = 7.0  # pixels of an average character at the charts' text size, in a wide font
# XML has no way to write these at all, escaped or not.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def escape(text: object) -> str:
    """Return text that is safe between tags and inside quoted attributes, whatever it holds."""
    return html.escape(_FORBIDDEN.sub("\ufffd", str(text)))


def element(tag: str, *inside: str, **attributes: object) -> str:
    """Return one element; `inside` is markup, names use _ for - and `class_` for class, None leaves one out."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_number(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{written}>{''.join(inside)}</{tag}>" if inside else f"<{tag}{written}/>"


def tip(text: str) -> str:
    """Return what a browser shows while the pointer rests on the element around it."""
    return element("title", escape(text)) if text else ""


def colour(index: int) -> str:
    """Return the class of the colour of the series at `index`."""
    return colour_class(palette.of_series(index))


def colour_class(name: str) -> str:
    """Return the class of a colour of the palette."""
    return f"c{list(palette.PALETTE).index(name)}"


def row_label(name: str, right: float, y: float) -> str:
    """Return a row's name that ends at `right`; of a name too long for the room, such as a path, its end."""
    letters = int(right / CHARACTER)
    text = name if len(name) <= letters else f"…{name[1 - letters :]}"
    return element("text", escape(text), class_="tick end", x=right, y=y)


def row_room(rows: Sequence[str], width: float = WIDTH) -> float:
    """Return the pixels that the names of rows get on the left."""
    return min(0.55 * width, 14 + CHARACTER * max(map(len, rows)))


def picture(height: float, *inside: str, name: str = "", width: float = WIDTH) -> str:
    """Return the `svg` element around a chart."""
    label = element("title", escape(name)) if name else ""
    body = "\n".join(inside)
    return f'<svg viewBox="0 0 {_number(width)} {_number(height)}" role="img">{label}\n{body}\n</svg>'


def _number(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else escape(value)


@dataclass(frozen=True)
class Frame:
    """The rectangle of a chart with an x and a y axis, and from numbers to pixels in it."""

    x: Scale
    y: Scale
    left: float
    top: float
    right: float
    bottom: float

    def at_x(self, value: float) -> float:
        """Return the pixel of a number on the x axis."""
        return self.left + self.x.place(value) * (self.right - self.left)

    def at_y(self, value: float) -> float:
        """Return the pixel of a number on the y axis, which grows upwards."""
        return self.bottom - self.y.place(value) * (self.bottom - self.top)

    def draw(self, x_label: str, y_label: str, x_ticks: bool = True, y_ticks: bool = True) -> str:
        """Return grid, ticks and labels."""
        parts = []
        for value, text in zip(self.y.ticks, self.y.labels(), strict=True) if y_ticks else ():
            at = self.at_y(value)
            parts.append(element("line", class_="grid", x1=self.left, x2=self.right, y1=at, y2=at))
            parts.append(element("text", escape(text), class_="tick end", x=self.left - 8, y=at + 4))
        taken = -1e9
        for value, text in zip(self.x.ticks, self.x.labels(), strict=True) if x_ticks else ():
            at, half = self.at_x(value), CHARACTER * len(text) / 2
            parts.append(element("line", class_="grid", x1=at, x2=at, y1=self.top, y2=self.bottom))
            if at - half > taken + 6:  # a label that would touch its neighbour is left out
                parts.append(element("text", escape(text), class_="tick middle", x=at, y=self.bottom + 18))
                taken = at + half
        ends = {"x1": self.left, "x2": self.right, "y1": self.bottom, "y2": self.bottom}
        parts.append(element("line", class_="axis", **ends))
        middle = (self.left + self.right) / 2
        if x_label:
            parts.append(element("text", escape(x_label), class_="label middle", x=middle, y=self.bottom + 38))
        if y_label:
            parts.append(element("text", escape(y_label), class_="label", x=4.0, y=14.0))
        return "\n".join(parts)


def frame(
    x: Scale, y: Scale, height: float, y_label: str, x_label: str, bottom_room: float = 24, width: float = WIDTH
) -> Frame:
    """Return the frame whose margins fit the labels."""
    left = 14 + CHARACTER * max((len(text) for text in y.labels()), default=1)
    top = 28.0 if y_label else 10.0
    return Frame(x, y, left, top, width - 16.0, height - bottom_room - (20 if x_label else 0))
