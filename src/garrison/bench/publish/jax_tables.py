"""Tables and page on CAGE-2 in JAX: the simulator and the learner, beside the compiled ones and another loop."""

from pathlib import Path

from garrison.bench.method.labels import GARRISON
from garrison.bench.publish.apart import line, markdown_apart, row_line, table_apart, times_line
from garrison.bench.publish.chart_parts import points
from garrison.bench.publish.markdown import source
from garrison.bench.publish.stored import (
    StoredResult,
    StoredRow,
    by,
    compared,
    facts,
    find,
    load,
    measured,
    rate,
    select,
    short_name,
)
from garrison.report.page import Page, lines


def sim_jax_table(folder: Path) -> str:
    """Return the simulator in JAX by size of the batch, beside the compiled one."""
    result = load(folder, "sim-jax")
    jax, numba = _engines(result)
    rows = []
    for n, row in sorted(jax.items()):
        said = facts(row)
        cost = f"{said['compile_seconds']:.0f} s", f"{row['peak_mb']:,.0f}"
        times = compared(row, numba[n])
        rows.append(line((f"{n:,}", rate(row), *cost, rate(numba[n]), times.times()), times))
    return markdown_apart(
        ("environments", "JAX, steps/s", "to compile", "MB in all", "Numba, steps/s", "JAX / Numba"),
        rows,
        result,
        "Random actions, both attackers, automatic resets; JAX inside a `lax.scan`; Numba on one thread below 4,096 "
        "environments and on every core from there on; both on the CPU. Nothing was compiled while the clock ran. "
        f"{source(result, 'sim-jax')}",
    )


def train_jax_table(folder: Path) -> str:
    """Return PPO on the device beside a loop in PureJaxRL's manner on the same job."""
    result = load(folder, "train-jax")
    rows = measured(result)
    lines = []
    for row in rows:
        base = find(rows, who="PureJaxRL-style", minibatch=row["labels"]["minibatch"])
        compiling = facts(row).get("compile_seconds")
        took = "" if compiling is None else f"{compiling:.0f} s"
        lines.append(times_line(row, base, took))
    return markdown_apart(
        ("training on CAGE-2", "steps/s", "to compile", "times PureJaxRL-style"),
        lines,
        result,
        "End to end on the CPU, two towers of 64x64, four epochs of eight minibatches; minibatches of 512 are 64 "
        "environments x 64 steps, those of 12,800 are 1,024 x 100. The steps of several agents are those of all "
        f"together. {source(result, 'train-jax')}",
    )


def both_engines(page: Page, result: StoredResult) -> None:
    """Show throughput by size of the batch on both engines, and every row."""
    jax, numba = _engines(result)
    series = [points("JAX, in a scan", jax), points("Numba", numba)]
    chart = lines(series, x_label="environments in the batch", y_label="steps/s", log_x=True, log_y=True)
    page.chart(chart, "Throughput of both engines by number of environments")
    every_row(page, result)


def every_row(page: Page, result: StoredResult) -> None:
    """Show the rates of all rows."""
    table_apart(
        page, ["", "steps/s"], [row_line((short_name(row), rate(row)), row) for row in measured(result)], result
    )


def _engines(result: StoredResult) -> tuple[dict[int, StoredRow], dict[int, StoredRow]]:
    rows = measured(result)
    return by(select(rows, who=GARRISON, engine="jax"), "envs"), by(select(rows, who=GARRISON, engine=None), "envs")
