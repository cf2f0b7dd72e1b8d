"""Learning curves beside Stable-Baselines3's: on the page, and as a table of the docs."""

from pathlib import Path

from garrison.bench.publish.learning_rows import HEADER, environments, points, side, verdicts, written
from garrison.bench.publish.markdown import link, markdown
from garrison.bench.publish.stored import StoredResult, load
from garrison.report.page import Page, Series, lines
from garrison.tasks.confidence import Interval

QUARTERS = 4


def learning_curves(page: Page, result: StoredResult) -> None:
    """Show the mean curves with their confidence, their values at quarters of the run, and the verdicts."""
    page.text(
        "The mean return of the training episodes that ended in each twentieth of the run, over the seeds; bands are "
        "95 % confidence (Student's t). Both sides have the same settings and the same bookkeeping. The verdict is "
        "that of the 95 % interval of the difference (Welch), over the last quarter and over the whole run."
    )
    if table := verdicts(result):
        page.table(list(HEADER), [list(row) for row in table])
    for env in environments(result):
        curves = {name: points(side(result, env, ours)) for name, ours in (("ours", True), ("SB3's", False))}
        page.chart(
            lines([_series(*curve) for curve in curves.items()], x_label="steps", y_label="return", band=True), env
        )
        step = max(1, len(curves["ours"]) // QUARTERS)
        rows = []
        for ours, theirs in list(zip(*curves.values(), strict=True))[step - 1 :: step]:
            cells = ["" if value is None else written(value) for value in (ours[1], theirs[1])]
            rows.append([f"{ours[0]:,}", *cells])
        page.table(["steps", *curves], rows)


def _series(name: str, curve: list[tuple[int, Interval | None]]) -> Series:
    known = [(step, value) for step, value in curve if value is not None]
    return Series(
        name,
        [step for step, _ in known],
        [mean for _, (mean, _) in known],
        [mean - _finite(reach) for _, (mean, reach) in known],
        [mean + _finite(reach) for _, (mean, reach) in known],
    )


def _finite(reach: float) -> float:
    return reach if reach < float("inf") else 0.0


def learning_table(folder: Path) -> str:
    """Return the verdicts with their numbers."""
    result = load(folder, "learning")
    seeds = len({run["labels"]["seed"] for run in result["runs"]})
    machine = result["machine"]
    return markdown(
        HEADER,
        verdicts(result),
        f"Returns of the training episodes, mean and 95 % confidence of {seeds} seeds: over the last quarter of",
        "the run, and over all of it. Settings and bookkeeping are the same on both sides. The verdict is that of",
        f"the 95 % interval of the difference. `{result['method']['command']}`, Stable-Baselines3",
        f"{machine['versions'].get('stable-baselines3', '')} ({link('learning')}).",
    )
