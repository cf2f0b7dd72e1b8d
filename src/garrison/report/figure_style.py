"""How figures look: their axes, their colours and their files."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from garrison.learn import stages
from garrison.report.history import Floats, spans_magnitudes
from garrison.storage.atomic import write_bytes
from garrison.viewer import palette

GRID = {"color": "#dddddd", "linewidth": 0.6}
RULE = "#999999"
NOTE = "#555555"
FONTS: dict[Any, Any] = {"pdf.fonttype": 42, "svg.fonttype": "none"}
"""Text stays text: publishers refuse the outlines that Matplotlib puts into a PDF by default."""


def series_colour(index: int) -> str:
    """Return the colour of the series at `index`."""
    return palette.light(palette.of_series(index))


def stage_colour(stage: str) -> str:
    """Return the colour of a stage of training."""
    return palette.light(stages.colour(stage))


def new_figure(rows: int, columns: int, width: float, height: float) -> tuple[Any, Any]:
    """Return a figure and its axes, (rows, columns)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", dpi=120)
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis in axes.flat:
        axis.grid(True, **GRID)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def steps_axis(axis: Any) -> None:
    """Label the x axis in steps, written as people say them."""
    from matplotlib.ticker import EngFormatter, MaxNLocator

    axis.set_xlabel("environment steps")
    axis.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    axis.xaxis.set_major_formatter(EngFormatter(sep=" "))


def return_axis(axis: Any, values: Floats) -> None:
    """Give costs over several orders of magnitude a logarithmic y axis, on which late gains can be seen."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    if not spans_magnitudes(values):
        return
    finite = values[np.isfinite(values)]
    axis.set_yscale("symlog", linthresh=1.0)
    ticks = [-d * 10**e for e in range(5) for d in (1, 2, 5)]
    low, high = 1.15 * finite.min(), finite.max() / 1.3
    axis.yaxis.set_major_locator(FixedLocator([t for t in ticks if low <= t <= high]))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    axis.set_ylim(low, high)


def save(figure: Any, path: Path) -> Path:
    """Write the figure in the format that the path's suffix names, and return the path."""
    from matplotlib import rc_context

    path.parent.mkdir(parents=True, exist_ok=True)
    with rc_context(FONTS):
        drawn = BytesIO()
        figure.savefig(drawn, format=path.suffix[1:])
    write_bytes(path, [drawn.getvalue()])
    return path
