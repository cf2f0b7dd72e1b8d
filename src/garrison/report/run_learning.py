"""How a run learns: its return with what happened on the way, and its scores during training."""

from collections.abc import Mapping, Sequence

import numpy as np

from garrison.challenge import leaderboard
from garrison.report.curves import band, curve, window_for
from garrison.report.history import REWARD, RunHistory, spans_magnitudes
from garrison.report.page import BROAD, NARROW, Chart, Figure, Level, Mark, Page, Series, lines
from garrison.report.workflow_metrics import COMPLIANCE, ENV_REWARD
from garrison.runs import marks as run_marks

SMALL = 210.0  # pixels of the height of a chart among others
STEPS = "environment steps"
TOTAL, MEAN, REACH = "evaluation/total", "evaluation/mean", "evaluation/ci95"


def last_score(run: RunHistory) -> str | None:
    """Return the newest score during training; None without one."""
    for metric in (TOTAL, MEAN):
        _, _, values = run.series(metric)
        _, _, reaches = run.series(REACH)
        if len(values):
            return f"{values[-1]:.2f}" + (f" ± {reaches[-1]:.2f}" if len(reaches) == len(values) else "")
    return None


def add_learning(page: Page, run: RunHistory, agents: Sequence[RunHistory], known: Mapping[str, float]) -> None:
    """Add the return beside `known` scores, and the scores during training."""
    page.section("Learning")
    shown = _returns(run, agents)
    values = [y for one in shown for y in (*one.y, *one.low, *one.high) if y is not None]
    marks = _marks(run)

    def draw(width: float) -> Chart:
        return lines(
            shown,
            x_label=STEPS,
            y_label="return",
            costs=spans_magnitudes(np.array([*values, *known.values()], np.float64)),
            band=bool(agents),
            marks=marks,
            levels=[Level(value, name) for name, value in known.items()],
            width=width,
            own_ticks=False,
            height=360 if width == BROAD else 300,
            name=f"return of {run.name} over its steps",
        )

    told = "Mean of the last 100 episodes, with actions drawn as in training."
    if agents:
        told += f" The line is the mean of {len(agents)} agents, the band its 95 % interval over agents."
    if any(mark.is_tick for mark in marks):
        told += " Ticks on the axis are checkpoints."
    page.chart(draw(BROAD), "Return", told, narrow=draw(NARROW))
    page.grid([*_totals(run), *_cells(run), *_workflow(run)])


def _returns(run: RunHistory, agents: Sequence[RunHistory]) -> list[Series]:
    if agents:
        mean = band("mean of the agents", agents, REWARD, window_for(agents[0], REWARD))
        if mean is not None:
            return [mean]
    raw, drawn = curve(run, REWARD, 1), curve(run, REWARD, window_for(run, REWARD))
    if raw is None or drawn is None:
        return []
    return [Series("raw", raw.x, raw.y, faint=True), Series("return", drawn.x, drawn.y, marked=len(drawn.x) < 3)]


def _marks(run: RunHistory) -> list[Mark]:
    best = [mark for mark in run.marks if mark.what == run_marks.BEST][-1:]
    found = [mark for mark in run.marks if mark.what in (run_marks.RESUMED, run_marks.SAVED)]
    return [Mark(mark.step, mark.what, is_tick=mark.what == run_marks.SAVED) for mark in (*found, *best)]


def _totals(run: RunHistory) -> list[Figure]:
    """Return the scores during training, with their intervals."""
    found = []
    for metric, name in ((TOTAL, "official total"), (MEAN, "mean return")):
        steps, _, values = run.series(metric)
        _, _, reaches = run.series(REACH)
        if not len(values):
            continue
        reach = reaches if len(reaches) == len(values) else np.zeros(len(values))
        series = Series(name, steps.tolist(), values.tolist(), (values - reach).tolist(), (values + reach).tolist())
        is_comparable = metric == TOTAL and run.settings.get("env.rules") == leaderboard.TABLE_RULES
        winner = [Level(leaderboard.leaderboard()[0].total, "the winner")] if is_comparable else []
        chart = lines(
            [series],
            x_label=STEPS,
            levels=winner,
            costs=spans_magnitudes(np.append(values, [level.y for level in winner])),
            height=SMALL,
            width=NARROW,
            own_ticks=False,
            name=f"{name} during training",
        )
        found.append(Figure(chart, f"Scores: {name}", "Few episodes with the likeliest actions, ± 95 %."))
    return found


def _cells(run: RunHistory) -> list[Figure]:
    """Return the scores against each attacker, a chart for each length of episodes."""
    found = []
    for length in leaderboard.LENGTHS:
        cells = [(red, run.series(f"evaluation/{red}_{length}")) for red in leaderboard.EVALUATED_REDS]
        series = [Series(red, steps.tolist(), values.tolist()) for red, (steps, _, values) in cells if len(values)]
        if series:
            costs = spans_magnitudes(np.array([y for one in series for y in one.y], np.float64))
            name = f"scores against each attacker, {length} steps"
            chart = lines(series, x_label=STEPS, costs=costs, height=SMALL, width=NARROW, own_ticks=False, name=name)
            found.append(Figure(chart, f"Scores: {length} steps", "Mean return against each attacker."))
    return found


def _workflow(run: RunHistory) -> list[Figure]:
    threshold = run.settings.get("workflow.compliance_threshold")
    levels = [Level(float(threshold), "threshold")] if isinstance(threshold, int | float) else []
    found = []
    for metric, title in ((COMPLIANCE, "Compliance"), (ENV_REWARD, "Environment reward")):
        if (drawn := curve(run, metric, window_for(run, metric))) is not None:
            series = Series(title, drawn.x, drawn.y, marked=len(drawn.x) < 3)
            shown = levels if metric == COMPLIANCE else []
            name = f"{title.lower()} over steps"
            chart = lines([series], x_label=STEPS, levels=shown, height=SMALL, width=NARROW, own_ticks=False, name=name)
            found.append(Figure(chart, title, "Mean over the episode that each environment ended last."))
    return found
