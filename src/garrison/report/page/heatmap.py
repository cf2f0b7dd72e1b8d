"""A table drawn in colours."""

import math
from collections.abc import Callable, Sequence

from garrison.formatting import short
from garrison.report.page.charts import Chart, nothing
from garrison.report.page.scale import finite
from garrison.report.page.svg import CHARACTER, WIDTH, element, escape, picture, row_label, row_room, tip

STRONGEST = 0.9  # opacity of the largest value


def heatmap(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    *,
    write: Callable[[float], str] = short,
    doubtful: Sequence[Sequence[bool]] = (),
    row_height: float = 26,
    width: float = WIDTH,
    name: str = "",
) -> Chart:
    """Return a coloured cell per value, stronger for larger, with its number, ~ before doubtful ones; None is empty."""
    known = finite([v for line in values for v in line])
    if not known:
        return nothing(width=width)
    low, high = min(known), max(known)
    left = row_room(rows, width)
    wide = min(90.0, (width - left - 10) / len(columns))
    parts = [
        element("text", escape(column), class_="tick middle", x=left + (c + 0.5) * wide, y=16.0)
        for c, column in enumerate(columns)
    ]
    for r, (row, line) in enumerate(zip(rows, values, strict=True)):
        top = 24 + r * row_height
        parts.append(row_label(row, left - 8, top + row_height / 2 + 4))
        for c, value in enumerate(line):
            if value is None or not math.isfinite(value):
                continue
            strength = STRONGEST * (0.07 + 0.93 * ((value - low) / (high - low) if high > low else 0.5))
            place = {"x": left + c * wide + 1, "y": top + 1, "width": wide - 2, "height": row_height - 2}
            written = ("~" if doubtful and doubtful[r][c] else "") + write(value)
            text = tip(f"{row}, {columns[c]}: {written}")
            parts.append(element("rect", text, class_="heat", fill_opacity=round(strength, 3), **place))
            if len(written) * CHARACTER < wide - 4:
                middle = {"x": left + (c + 0.5) * wide, "y": top + row_height / 2 + 4}
                parts.append(element("text", escape(written), class_="cell middle", **middle))
    return Chart(picture(30 + row_height * len(rows), *parts, name=name, width=width))
