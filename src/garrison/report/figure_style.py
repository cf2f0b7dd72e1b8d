"""How pictures look: one place for colours, axes and files."""

from pathlib import Path
from typing import Any

import numpy as np

from garrison.report.history import Series

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b5b5b", "#8c564b")  # safe for most eyes
STAGES = {
    "act": COLOURS[0],
    "step": COLOURS[2],
    "step_compute": COLOURS[2],
    "step_reset": "#2fb58f",
    "step_extras": "#5ec9aa",
    "step_copy": "#8cd9c2",
    "step_ipc": "#a6b727",
    "step_wait": "#d4dc7f",
    "copy": COLOURS[5],
    "wait": "#c7c7c7",
    "advantages": COLOURS[4],
    "learn": COLOURS[1],
    "publish": COLOURS[3],
    "log": COLOURS[6],
}
GRID = {"color": "#dddddd", "linewidth": 0.6}


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


def return_axis(axis: Any, values: Series) -> None:
    """Give costs over several orders of magnitude a logarithmic y axis."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    finite = values[np.isfinite(values)]
    if len(finite) and finite.max() < 0 and finite.min() < 8 * finite.max():
        axis.set_yscale("symlog", linthresh=1.0)
        ticks = [-d * 10**e for e in range(5) for d in (1, 2, 5)]
        low, high = 1.15 * finite.min(), finite.max() / 1.3
        axis.yaxis.set_major_locator(FixedLocator([t for t in ticks if low <= t <= high]))
        axis.yaxis.set_minor_locator(NullLocator())
        axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
        axis.set_ylim(low, high)


def save(figure: Any, path: Path) -> Path:
    """Write the picture and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    return path
