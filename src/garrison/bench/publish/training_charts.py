"""The page on training: trainers beside each other, learners without a barrier, and the record."""

from typing import Any

from garrison.bench.method.labels import LIMIT, PRODUCTS, Labels, name_of
from garrison.bench.publish.apart import line, row_line, table_apart
from garrison.bench.publish.chart_parts import row_bars
from garrison.bench.publish.record_figure import LOWEST
from garrison.bench.publish.stored import (
    StoredResult,
    StoredRow,
    compared,
    facts,
    find,
    measured,
    rate,
    select,
    short_name,
)
from garrison.challenge.leaderboard import TABLE_RULES, leaderboard
from garrison.report.page import Page, Series, bars, lines
from garrison.report.page.charts import Chart
from garrison.report.stage_chart import stage_chart

ENVS = {
    "native": "Acting, stepping and learning on native CAGE-2",
    "uneven": "On Python environments of about 1 ms with uneven steps; the limit is bare loops, one per core",
}


def trainers(page: Page, result: StoredResult) -> None:
    """Show the trainers beside each other on every job."""
    rows = [row for row in select(measured(result), cost=None) if row["labels"]["who"] != PRODUCTS]
    jobs: list[Labels] = []
    for row in rows:
        job = {key: value for key, value in row["labels"].items() if key != "who"}
        jobs += [job] if job not in jobs else []
    every = dict.fromkeys(row["labels"]["who"] for row in rows)
    series = [row_bars(who, [find(rows, who=who, **job) for job in jobs]) for who in every]
    chart = bars([name_of(job) for job in jobs], series, y_label="steps/s")
    page.chart(chart, "Acting, stepping and learning on native CAGE-2")


def time_split(page: Page, result: StoredResult) -> None:
    """Show where our trainer's time goes."""
    split = {short_name(row): facts(row) for row in measured(result) if "learn" in facts(row)}
    if split:
        page.chart(stage_chart(list(split), list(split.values())), "Where our trainer's time goes")


def every_rate(page: Page, result: StoredResult) -> None:
    """Show all rates in one table."""
    table_apart(
        page, ["", "steps/s"], [row_line((short_name(row), rate(row)), row) for row in measured(result)], result
    )


def without_barrier(page: Page, result: StoredResult) -> None:
    """Show the learners without a barrier beside PPO: on native CAGE-2, and on uneven Python environments."""
    for env, title in ENVS.items():
        rows = select(measured(result), env=env)
        series = [row_bars("steps/s", rows)]
        page.chart(bars([_without_env(row) for row in rows], series, y_label="steps/s"), title)
    uneven = select(measured(result), env="uneven")
    limit = find(uneven, env="uneven", who=LIMIT)
    if limit:
        learners = [(_without_env(row), compared(row, limit)) for row in uneven if "learner" in row["labels"]]
        lines = [line((name, part.share()), part) for name, part in learners]
        table_apart(page, ["uneven", "share of the limit"], lines, result)


def _without_env(row: StoredRow) -> str:
    return name_of({key: value for key, value in row["labels"].items() if key != "env"})


def record(page: Page, result: StoredResult) -> None:
    """Show the official total over time of every run; beside those under its rules also the challenge's winner."""
    runs = result["runs"]
    for rules in dict.fromkeys(run["evaluation"]["rules"] for run in runs):
        chart = _totals([run for run in runs if run["evaluation"]["rules"] == rules], rules)
        page.chart(chart, f"Official total over time, rules {rules}")
    rows = []
    for run in runs:
        score = run["evaluation"]
        total, minutes = f"{score['total']:.2f} ± {score['ci95']:.2f}", f"{run['seconds'] / 60:.1f}"
        rows.append([f"`{run['command']}`", total, score["rules"], minutes, f"{run['steps'] / 1e6:.1f}"])
    page.table(["command", "official total", "rules", "minutes", "million steps"], rows)


def _totals(runs: list[dict[str, Any]], rules: str) -> Chart:
    series = []
    for run in runs:
        curve = [point for point in run["curve"] if point["total"] > LOWEST]
        name = ", ".join(str(part) for part in (run["preset"], run.get("variant"), f"seed {run['seed']}") if part)
        series.append(
            Series(name, [point["seconds"] / 60 for point in curve], [point["total"] for point in curve], marked=False)
        )
    if rules == TABLE_RULES:
        winner = leaderboard()[0].total
        ends = [0.0, max((x for one in series for x in one.x), default=0.0)]
        series.append(Series(f"winner of the challenge, {winner}", ends, [winner] * 2, dashed=True, marked=False))
    return lines(series, x_label="minutes of training", y_label="official total")
