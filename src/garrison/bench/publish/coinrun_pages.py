"""The users' CoinRun job: on the page, and as a table of the docs."""

from pathlib import Path

from garrison.bench.publish.apart import markdown_apart, table_apart
from garrison.bench.publish.chart_parts import row_bars
from garrison.bench.publish.coinrun_rows import HEADER, beside_roofline
from garrison.bench.publish.markdown import source
from garrison.bench.publish.stored import StoredResult, facts, load, measured, short_name
from garrison.bench.publish.user_rows import known, theirs
from garrison.report.page import Page, bars
from garrison.report.stage_chart import stage_chart

JOB = (
    "PPO on Procgen's CoinRun: 32 environments, 128 steps, minibatches of 1,024, 4 epochs; three convolutions that "
    "policy and value share and 512 units for each."
)
ARITHMETIC = (
    "The arithmetic is the job's convolutions and matrix products alone, by torch on the same cores: the speed that no "
    "trainer can exceed."
)


def coinrun_rates(page: Page, result: StoredResult) -> None:
    """Show every trainer's frames per second, its share of the arithmetic, and where our trainers' time goes."""
    page.text(f"{JOB} {ARITHMETIC}")
    rows = measured(result)
    if not rows:
        return
    page.chart(bars([short_name(row) for row in rows], [row_bars("frames/s", rows)], y_label="frames/s"), "Frames/s")
    table_apart(page, HEADER, beside_roofline(rows), result)
    split = {short_name(row): facts(row) for row in rows if "learn" in facts(row)}
    if split:
        page.chart(stage_chart(list(split), list(split.values())), "Where our trainers' time goes")


def coinrun_table(folder: Path) -> str:
    """Return the trainers beside each other, and what the users wrote down."""
    result = load(folder, "users-coinrun")
    wrote = ", ".join(f"{row['what']} {theirs(row)}" for row in known(result["tables"]) if not row["is_ratio"])
    machines = "; ".join(f"{project}: {machine}" for project, machine in result["measured_on"].items())
    return markdown_apart(
        HEADER,
        beside_roofline(measured(result)),
        result,
        f"{JOB} Whole updates: acting, stepping and learning. {ARITHMETIC}",
        f"The users wrote down, in frames/s: {wrote} ({machines}).",
        source(result, "users-coinrun"),
    )
