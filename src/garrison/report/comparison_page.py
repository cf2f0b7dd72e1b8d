"""The page of a comparison: one offline file with the table, the curves and where each run's time went."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from garrison.formatting import plural
from garrison.learn.metrics import meaning
from garrison.report.comparison import DIFFER, Facts, differences, rendered, settings_that_differ, title
from garrison.report.curves import band, curve
from garrison.report.history import (
    LEARNING,
    REWARD,
    SPEED,
    RunHistory,
    chart_title,
    metric_title,
    spans_magnitudes,
    told,
)
from garrison.report.page import BROAD, NARROW, Chart, Figure, Page, Series, lines
from garrison.report.run_groups import RunGroup, grouped, with_agents, written_score
from garrison.report.stage_chart import stage_chart
from garrison.tasks.confidence import mean95

FEW = 10  # rows of a table that is not folded
SMALL = 230.0  # pixels of the height of a chart among others


def comparison_page(runs: list[RunHistory], table: list[Facts], window: int, command: str) -> Page:
    """Return the page for runs and their facts; several seeds of one setting are drawn as a band."""
    page = Page("Runs side by side", plural(len(runs), "run"), kind="comparison")
    page.code(command)
    if warning := differences(table):
        page.note(warning)
    if differing := settings_that_differ(runs):
        folded = plural(len(differing), "setting") if len(differing) > FEW else ""
        page.section("What differs", f"{DIFFER}.")
        page.table(["", *(str(row["run"]) for row in table)], differing, folded=folded)
    groups = _groups(runs, table)
    runs = [replace(run, name=title(row, table)) for run, row in zip(runs, table, strict=True)]
    if any(group.is_several for group in groups):
        page.section("Seeds", "Runs that differ only in their seed: means with their 95 % intervals over runs.")
        page.table(["setting", "runs", "last return", "score"], [_group_row(group) for group in groups])
    several = " The band is the 95 % interval of the mean over seeds." if any(g.is_several for g in groups) else ""
    page.section("Return")
    for by_time, name in ((True, "Over wall time"), (False, "Over environment steps")):
        broad, narrow = (_curves(groups, REWARD, window, by_time, width) for width in (BROAD, NARROW))
        page.chart(broad, name, f"Mean of the last 100 episodes.{several}", narrow)
    heading, *rows = rendered(table)
    page.section("Facts").table(["", *heading[1:]], rows)
    page.section("Speed")
    speed, split = _curves(groups, SPEED, window, by_time=True), [run.stages for run in runs]
    figures = [Figure(speed, "Environment steps per second", "Learning included.")]
    figures.append(Figure(stage_chart([run.name for run in runs], split, NARROW), "Where the time went"))
    page.grid(figures)
    page.section("Learning")
    metrics = dict.fromkeys(name for run in runs for name in run.metrics(LEARNING))
    page.grid([_small(groups, metric, window) for metric in metrics])
    return page


def _groups(runs: list[RunHistory], table: list[Facts]) -> list[RunGroup]:
    """Return the runs by their settings; what cannot be compared is marked in the names, as in the table."""
    marks = {run.path: title(row, table).removeprefix(str(row["run"])) for run, row in zip(runs, table, strict=True)}
    found = []
    for group in grouped(with_agents(runs)):
        path = group.runs[0].path
        mark = marks.get(path, marks.get(path.parent, ""))
        found.append(replace(group, name=group.name + mark))
    return found


def _group_row(group: RunGroup) -> list[object]:
    last = [run.series(REWARD)[2][-1:].tolist() for run in group.runs]
    known = [value for values in last for value in values]
    interval = mean95(known) if known else None
    score = group.score or group.own_score
    return [group.name, len(group.runs), written_score(interval), written_score(score)]


def _small(groups: Sequence[RunGroup], metric: str, window: int) -> Figure:
    return Figure(_curves(groups, metric, window, by_time=True), chart_title(metric), told(meaning(metric)))


def _curves(groups: Sequence[RunGroup], metric: str, window: int, by_time: bool, width: float = NARROW) -> Chart:
    drawn: list[Series] = []
    for group in groups:
        found = band(group.name, group.runs, metric, window, by_time) if group.is_several else None
        found = found or curve(group.runs[0], metric, window, by_time)
        if found is not None:
            drawn.append(replace(found, name=group.name, marked=len(found.x) < 3))
    values = np.array([y for one in drawn for y in one.y], np.float64)
    return lines(
        drawn,
        x_label="minutes" if by_time else "steps",
        y_label="return" if metric == REWARD else "",
        costs=metric == REWARD and spans_magnitudes(values),
        zero=metric == SPEED,
        band=True,
        height=SMALL if width == NARROW else 360.0,
        width=width,
        own_ticks=False,
        name=f"{metric_title(metric)} of each run over {'minutes' if by_time else 'steps'}",
    )
