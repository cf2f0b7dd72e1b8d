"""Curves of runs as series of points: one run, or the mean of several with its 95 % interval."""

from collections.abc import Sequence

import numpy as np

from garrison.report.history import Floats, RunHistory, smooth
from garrison.report.page import Series
from garrison.tasks.confidence import mean95

POINTS = 200  # of a curve; more cannot be seen
STRETCHES = 50  # of a curve: each of its points is the mean of one


def window_for(run: RunHistory, metric: str) -> int:
    """Return over how many rows a curve is smoothed so that it shows a run as a whole."""
    return max(1, len(run.series(metric)[0]) // STRETCHES)


def curve(run: RunHistory, metric: str, window: int, by_time: bool = False) -> Series | None:
    """Return a metric of a run over its steps or minutes, smoothed; None if the run does not have it."""
    steps, minutes, values = run.series(metric)
    if not len(values):
        return None
    at = np.unique(np.linspace(0, len(values) - 1, POINTS).astype(int))
    return Series(run.name, (minutes if by_time else steps)[at].tolist(), smooth(values, window)[at].tolist())


def band(name: str, runs: Sequence[RunHistory], metric: str, window: int, by_time: bool = False) -> Series | None:
    """Return the mean of several runs and its 95 % interval, as far as all of them have come; None without such a part.

    One run has no interval.
    """
    curves = [(axis, values) for axis, values in (_arrays(run, metric, by_time) for run in runs) if len(values)]
    if len(curves) < 2 or len(curves) < len(runs):
        return curve(runs[0], metric, window, by_time) if len(runs) == 1 else None
    first, last = max(x[0] for x, _ in curves), min(x[-1] for x, _ in curves)
    if first >= last:
        return None
    grid = np.linspace(first, last, POINTS)
    # Several rows may share a place: np.interp asks for places that rise.
    drawn = np.array([np.interp(grid, *_rising(x, smooth(values, window))) for x, values in curves])
    intervals = [mean95(column.tolist()) for column in drawn.T]
    return Series(
        name,
        grid.tolist(),
        [mean for mean, _ in intervals],
        [mean - reach for mean, reach in intervals],
        [mean + reach for mean, reach in intervals],
        marked=False,
    )


def _arrays(run: RunHistory, metric: str, by_time: bool) -> tuple[Floats, Floats]:
    steps, minutes, values = run.series(metric)
    return (minutes if by_time else steps), values


def _rising(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    places, index = np.unique(x, return_index=True)
    return places, y[index]


def binned(x: Floats, values: Floats, bins: int) -> tuple[list[float], list[list[float]]]:
    """Return means of `values`, (rows, parts), over about `bins` stretches of rows, and where each ends.

    >>> binned(np.array([1.0, 2.0, 3.0, 4.0]), np.array([[0.0], [2.0], [4.0], [6.0]]), 2)
    ([2.0, 4.0], [[1.0], [5.0]])
    """
    groups = np.array_split(np.arange(len(x)), min(bins, len(x)))
    return [float(x[rows[-1]]) for rows in groups], [values[rows].mean(axis=0).tolist() for rows in groups]
