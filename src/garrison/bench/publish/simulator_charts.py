"""The page on the simulator."""

from garrison.bench.method.labels import GARRISON
from garrison.bench.publish.apart import table_apart, times_line
from garrison.bench.publish.chart_parts import efficiency, points
from garrison.bench.publish.stored import StoredResult, by, facts, find, measured, select, short_name, value
from garrison.report.page import Page, Series, lines

STARTS = {
    "import_seconds": "import garrison",
    "warm_first_step_seconds": "first step",
    "cold_first_step_seconds": "first step, with the one-time compile",
}


def throughput(page: Page, result: StoredResult) -> None:
    """Show the native batch by size, beside the peers."""
    rows = measured(result)
    batches = by(select(rows, who=GARRISON, threads=1), "envs")
    ends = [min(batches, default=1), max(batches, default=1)]
    series = [points("garrison, native batch", batches)]
    for row in rows:
        if row["labels"]["who"] != GARRISON:
            series.append(Series(short_name(row), ends, [value(row)] * 2, dashed=True, marked=False))
    chart = lines(series, x_label="environments in the batch", y_label="steps/s", log_x=True, log_y=True)
    note = "One thread. Dashed: peers, at the one size that was measured."
    page.chart(chart, "Throughput by number of environments", note)


def thread_scaling(page: Page, result: StoredResult) -> None:
    """Show the efficiency of several threads."""
    threaded = by(select(measured(result), who=GARRISON, envs=10_000, method=None), "threads")
    if len(threaded) > 1 and 1 in threaded:
        shares = efficiency("10,000 environments", threaded, {k: (k, threaded[1]) for k in threaded})
        label = "share of the ideal (threads x one thread)"
        chart = lines([shares], x_label="threads", y_label=label, zero=True, height=260)
        page.chart(chart, "Scaling with threads")


def batch_memory(page: Page, result: StoredResult) -> None:
    """Show what a batch holds."""
    batches = by(select(measured(result), who=GARRISON, threads=1), "envs")
    held = {n: facts(row)["batch_mb"] for n, row in sorted(batches.items())}
    if held:
        rows = [[f"{n:,}", f"{mb:.3g}", f"{1e6 * mb / n:.0f}"] for n, mb in held.items()]
        page.table(["environments", "MB of the batch", "bytes each"], rows, caption="Memory")


def start_up(page: Page, result: StoredResult) -> None:
    """Show what starting costs."""
    rows = [[STARTS[name], f"{seconds:.2f}"] for name, seconds in result.get("startup", {}).items()]
    page.table(["start-up", "seconds"], rows)


def beside_cyborg(page: Page, result: StoredResult) -> None:
    """Show every row, and how many times CybORG it is."""
    rows = measured(result)
    base = find(rows, who="CybORG", red="meander")
    table_apart(page, ["", "steps/s", "times CybORG"], [times_line(row, base) for row in rows], result)
