"""The page of a comparison: one offline file with the table, the curves and where each run's time went."""

from typing import Any

import numpy as np

from garrison.report.history import REWARD, Run, in_order, smooth
from garrison.report.page import Page, Series, lines, stacked

POINTS = 200  # of a curve; more cannot be seen


def comparison_page(runs: list[Run], table: list[dict[str, Any]], window: int, command: str) -> Page:
    """Return the page for runs and their facts."""
    page = Page("Runs side by side", f"`{command}`")
    names = [str(row["run"]) for row in table]
    keys = [key for key in dict.fromkeys(key for row in table for key in row) if key != "run"]
    rows = [[key, *(_shown(row.get(key)) for row in table)] for key in keys]
    page.section("Facts").table(["", *names], [row for row in rows if any(row[1:])])
    page.section("Return")
    page.chart(_returns(runs, window, by_time=True), "Over wall time", "Mean of the last 100 episodes.")
    page.chart(_returns(runs, window, by_time=False), "Over environment steps")
    page.section("Speed")
    page.chart(_curves(runs, "time/fps", window, by_time=True), "Environment steps a second, learning included")
    stages = in_order({stage for run in runs for stage in run.stages})
    shares = {stage.replace("_", ": "): [100.0 * run.stages.get(stage, 0.0) for run in runs] for stage in stages}
    page.chart(stacked(names, shares, share=True, x_label="% of the time"), "Where the time went")
    page.section("Losses")
    for metric, title in (("train/policy_loss", "Policy loss"), ("train/value_loss", "Value loss")):
        page.chart(_curves(runs, metric, window, by_time=True), title)
    page.chart(_curves(runs, "train/entropy", window, by_time=True), "Entropy of the policy")
    return page


def _returns(runs: list[Run], window: int, by_time: bool) -> Any:
    """Draw returns; where all are costs, their size on a logarithmic axis, on which late gains can still be seen."""
    if all((run.series(REWARD)[2] < 0).all() for run in runs):
        return _curves(runs, REWARD, window, by_time, cost=True)
    return _curves(runs, REWARD, window, by_time)


def _curves(runs: list[Run], metric: str, window: int, by_time: bool, cost: bool = False) -> Any:
    drawn = []
    for run in runs:
        steps, minutes, values = run.series(metric)
        if len(values):
            at = np.unique(np.linspace(0, len(values) - 1, POINTS).astype(int))
            x = (minutes if by_time else steps / 1e6)[at]
            y = smooth(-values if cost else values, window)[at]
            drawn.append(Series(run.name, x.tolist(), y.tolist()))
    x_label = "minutes" if by_time else "million steps"
    y_label = "cost of an episode (minus its return)" if cost else ""
    return lines(drawn, x_label=x_label, y_label=y_label, log_y=cost, zero=metric == "time/fps")


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
