"""Charts of a run beside its return: losses, and where its time goes."""

import numpy as np

from garrison.learn import stages
from garrison.learn.metrics import meaning
from garrison.report.curves import binned, curve, window_for
from garrison.report.history import LEARNING, SPEED, RunHistory, chart_title, told
from garrison.report.page import NARROW, Figure, Page, Series, areas, lines
from garrison.report.run_learning import SMALL, STEPS

BINS = 60  # stretches of a run over which shares are averaged
MIDDLE = 260.0  # pixels of the height of a chart of shares


def add_losses(page: Page, run: RunHistory) -> None:
    """Add every metric of learning, each on its own scale."""
    names = run.metrics(LEARNING)
    if names:
        page.section("Losses").grid([_small(run, name) for name in names])


def _small(run: RunHistory, metric: str) -> Figure:
    raw, drawn = curve(run, metric, 1), curve(run, metric, window_for(run, metric))
    assert raw is not None
    assert drawn is not None
    values = np.array(drawn.y, np.float64)
    is_log = metric.endswith("loss") and values.min() > 0 and values.max() > 30 * values.min()
    title = chart_title(metric)
    series = [Series("raw", raw.x, raw.y, faint=True), Series(title, drawn.x, drawn.y, marked=len(drawn.x) < 3)]
    chart = lines(series, x_label=STEPS, log_y=bool(is_log), height=SMALL, width=NARROW, own_ticks=False, name=title)
    return Figure(chart, title, told(meaning(metric)))


def add_time(page: Page, run: RunHistory) -> None:
    """Add where the time of updates went, and the speed."""
    figures = []
    rows = [(row["time/elapsed_time"] / 60, split) for row in run.rows if (split := stages.from_metrics(row))]
    shares = run.stages
    if rows:
        spent = np.array([[split.get(stage, 0.0) for stage in shares] for _, split in rows])
        at, means = binned(np.array([minute for minute, _ in rows]), spent, BINS)
        parts = {
            f"{stages.label(stage)} {100 * share:.0f} %": [row[k] for row in means]
            for k, (stage, share) in enumerate(shares.items())
        }
        colours = [stages.colour(stage) for stage in shares]
        chart = areas(at, parts, x_label="minutes", colours=colours, width=NARROW, height=MIDDLE, name="time split")
        figures.append(Figure(chart, "Where the time goes", "Share of each stage; the numbers are of the whole run."))
    raw, drawn = (curve(run, SPEED, window, by_time=True) for window in (1, window_for(run, SPEED)))
    if raw is not None and drawn is not None:
        series = [Series("raw", raw.x, raw.y, faint=True), Series("speed", drawn.x, drawn.y, marked=len(drawn.x) < 3)]
        name = "environment steps per second"
        chart = lines(series, x_label="minutes", zero=True, height=MIDDLE, width=NARROW, own_ticks=False, name=name)
        figures.append(Figure(chart, "Speed", "Environment steps per second, learning included."))
    if figures:
        page.section("Time").grid(figures)
