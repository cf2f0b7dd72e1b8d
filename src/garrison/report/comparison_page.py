"""The page of a comparison: one offline file with the table, the curves and where each run's time went."""

from dataclasses import replace

import numpy as np

from garrison.learn.metrics import meaning
from garrison.report.comparison import DIFFER, Facts, differences, rendered, settings_that_differ, title
from garrison.report.history import LEARNING, REWARD, SPEED, RunHistory, metric_title, smooth, spans_magnitudes
from garrison.report.page import Chart, Page, Series, lines
from garrison.report.stage_chart import stage_chart

POINTS = 200  # of a curve; more cannot be seen


def comparison_page(runs: list[RunHistory], table: list[Facts], window: int, command: str) -> Page:
    """Return the page for runs and their facts."""
    page = Page("Runs side by side")
    page.code(command)
    if warning := differences(table):
        page.note(warning)
    if differing := settings_that_differ(runs):
        page.section("What differs", f"{DIFFER}.").table(["", *(str(row["run"]) for row in table)], differing)
    runs = [replace(run, name=title(row, table)) for run, row in zip(runs, table, strict=True)]
    heading, *rows = rendered(table)
    page.section("Facts").table(["", *heading[1:]], rows)
    page.section("Return")
    page.chart(_curves(runs, REWARD, window, by_time=True), "Over wall time", "Mean of the last 100 episodes.")
    page.chart(_curves(runs, REWARD, window, by_time=False), "Over environment steps")
    page.section("Speed")
    page.chart(_curves(runs, SPEED, window, by_time=True), "Environment steps per second, learning included")
    page.chart(stage_chart([run.name for run in runs], [run.stages for run in runs]), "Where the time went")
    page.section("Learning")
    for metric in dict.fromkeys(name for run in runs for name in run.metrics(LEARNING)):
        chart = _curves(runs, metric, window, by_time=True)
        page.chart(chart, metric_title(metric).capitalize(), meaning(metric) or "")
    return page


def _curves(runs: list[RunHistory], metric: str, window: int, by_time: bool) -> Chart:
    drawn = []
    for run in runs:
        steps, minutes, values = run.series(metric)
        if len(values):
            at = np.unique(np.linspace(0, len(values) - 1, POINTS).astype(int))
            x = (minutes if by_time else steps)[at]
            drawn.append(Series(run.name, x.tolist(), smooth(values, window)[at].tolist()))
    return lines(
        drawn,
        x_label="minutes" if by_time else "steps",
        y_label="return" if metric == REWARD else "",
        costs=metric == REWARD and spans_magnitudes(np.array([y for one in drawn for y in one.y], np.float64)),
        zero=metric == SPEED,
    )
