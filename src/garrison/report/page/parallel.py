"""Parallel coordinates: an axis for each setting and one for the score, a line for each choice."""

from collections.abc import Sequence
from dataclasses import dataclass

from garrison.report.page.charts import Chart, nothing
from garrison.report.page.scale import Scale, finite, scale
from garrison.report.page.svg import BROAD, CHARACTER, colour, element, escape, picture, tip

TOP, BOTTOM = 34.0, 26.0
"""Pixels above and below the axes, for their names and ends."""
SIDE = 70.0  # pixels beside the outer axes
TICKS = 6


@dataclass(frozen=True)
class Coordinate:
    """An axis: its name, and the place of each line on it: numbers, or words in the order in which they stand."""

    name: str
    values: Sequence[float | str | None]
    log: bool = False

    @property
    def words(self) -> list[str]:
        """The words of an axis that is not of numbers, each once."""
        if all(value is None or isinstance(value, (int, float)) for value in self.values):
            return []
        return list(dict.fromkeys(str(value) for value in self.values if value is not None))


def parallel(
    axes: Sequence[Coordinate],
    tips: Sequence[str],
    best: Sequence[bool],
    *,
    width: float = BROAD,
    height: float = 340.0,
    name: str = "",
) -> Chart:
    """Return a line for each choice through its place on every axis; the `best` ones stand out."""
    drawn = [_Axis(axis, k, len(axes), width, height) for k, axis in enumerate(axes)]
    lines = []
    for number in sorted(range(len(tips)), key=lambda k: best[k]):
        places = [axis.at(number) for axis in drawn]
        if len(places) < 2 or any(place is None for place in places):
            continue
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place for place in places if place is not None))
        kind = "line" if best[number] else "line faint"
        line = element("polyline", tip(tips[number]), class_=kind, points=points)
        lines.append(element("g", line, class_=colour(1 if best[number] else 0)))
    if not lines:
        return nothing(width=width)
    legend = ((colour(1), "best"), (colour(0), "others")) if any(best) and not all(best) else ()
    return Chart(picture(height, *lines, *(axis.draw() for axis in drawn), name=name, width=width), legend)


class _Axis:
    def __init__(self, axis: Coordinate, number: int, count: int, width: float, height: float) -> None:
        self._axis, self._words = axis, axis.words
        self._x = SIDE + number * (width - 2 * SIDE) / max(1, count - 1)
        self._top, self._bottom = TOP, height - BOTTOM
        self._room = int((width - 2 * SIDE) / max(1, count - 1) / CHARACTER)
        numbers = [value for value in axis.values if isinstance(value, (int, float)) and not self._words]
        log = axis.log and all(value > 0 for value in numbers)
        self._scale: Scale = scale(finite(numbers), log=log)

    def at(self, number: int) -> tuple[float, float] | None:
        value = self._axis.values[number]
        if value is None or (not self._words and not self._scale.shows(float(value))):
            return None
        place = self._place_of(str(value)) if self._words else self._scale.place(float(value))
        return self._x, self._bottom - place * (self._bottom - self._top)

    def _place_of(self, word: str) -> float:
        return (self._words.index(word) + 0.5) / len(self._words)

    def draw(self) -> str:
        line = element("line", class_="axis", x1=self._x, x2=self._x, y1=self._top, y2=self._bottom)
        parts = [line, self._text(self._axis.name, 14.0, "label middle")]
        if self._words:
            ticks = [(self._place_of(word), word) for word in self._words]
        else:
            pairs = zip(self._scale.ticks, self._scale.labels(), strict=True)
            ticks = [(self._scale.place(value), text) for value, text in pairs]
            ticks = ticks[:: max(1, len(ticks) // TICKS)]
        for place, text in ticks:
            y = self._bottom - place * (self._bottom - self._top)
            parts.append(element("line", class_="axis", x1=self._x - 3, x2=self._x + 3, y1=y, y2=y))
            parts.append(element("text", escape(self._cut(text)), class_="name", x=self._x + 6, y=y + 4))
        return "\n".join(parts)

    def _text(self, text: str, y: float, kind: str) -> str:
        return element("text", escape(self._cut(text)), class_=kind, x=self._x, y=y)

    def _cut(self, text: str) -> str:
        return text if len(text) <= max(8, self._room) else f"{text[: max(7, self._room - 1)]}…"
