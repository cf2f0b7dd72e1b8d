"""The page on the users' own tables, and CAGE-2 in every way and number of environments."""

from garrison.bench.method.labels import GARRISON
from garrison.bench.publish.apart import line, table_apart
from garrison.bench.publish.chart_parts import Rows, efficiency, points, quantities
from garrison.bench.publish.stored import StoredResult, StoredRow, by, compared, find, measured, rate, select, value
from garrison.bench.publish.user_rows import HEADER, beside, known
from garrison.report.page import Page
from garrison.report.page import lines as line_chart


def their_tables(page: Page, result: StoredResult) -> None:
    """Show every figure of theirs beside ours."""
    page.text(
        "Ours, the same way: our CAGE-2 as a Python environment behind our backend of that kind. Native: the compiled "
        "batch. Theirs were measured on other machines (said below the tables), so a ratio is that of code and machine."
    )
    rows = known(result["tables"])
    for name in dict.fromkeys(row["table"] for row in rows):
        these = [row for row in rows if row["table"] == name]
        page.heading(name[0].upper() + name[1:])
        table_apart(page, HEADER[1:], [each._replace(cells=each.cells[1:]) for each in beside(these)], result)
        page.remark(f"Theirs: {', '.join(dict.fromkeys(row['source'] for row in these))}.")
        for note in dict.fromkeys(row["note"] for row in these if row["note"]):
            page.remark(f"{', '.join(row['what'] for row in these if row['note'] == note)}: {note}.")
    for project, machine in result["measured_on"].items():
        page.remark(f"{project} measured {machine}.")


def beside_cyborg(page: Page, result: StoredResult) -> None:
    """Show CybORG itself on this machine, behind the same backends."""
    lines = []
    for row in select(_stepped(result), who="CybORG"):
        way, envs = row["labels"]["way"], row["labels"]["envs"]
        mine = find(_stepped(result), who=GARRISON, way=way, envs=envs)
        if mine:
            times = compared(mine, row)
            lines.append(line((way, str(envs), rate(row), rate(mine), times.times()), times))
    if lines:
        page.heading("CybORG itself on this machine, in the same run")
        table_apart(page, ["", "environments", "CybORG, steps/s", "ours, the same way", "times"], lines, result)


def every_way(page: Page, result: StoredResult) -> None:
    """Show throughput, efficiency, memory and start-up of CAGE-2 by number of environments."""
    ways: dict[str, Rows] = {}
    for row in select(_stepped(result), who=GARRISON):
        way = row["labels"]["way"]
        ways.setdefault(way, by(select(_stepped(result), who=GARRISON, way=way), "envs"))
    if len({n for rows in ways.values() for n in rows}) < 2 or "sequential" not in ways:
        return
    series = [points(way, rows) for way, rows in ways.items()]
    chart = line_chart(series, x_label="environments", y_label="steps/s", log_x=True, log_y=True)
    page.chart(chart, "CAGE-2: throughput by backend and number of environments")
    one, cores = ways["sequential"], result["machine"]["cores"]
    step = 1e6 / max(value(row) for row in one.values())
    ideal = {n: (min(n, cores), row) for n, row in one.items()}
    shares = [efficiency(way, rows, ideal) for way, rows in ways.items() if way not in ("sequential", "native")]
    label = "share of the ideal (environments, at most the cores, x the sequential loop)"
    page.chart(
        line_chart(shares, x_label="environments", y_label=label, log_x=True, zero=True),
        "CAGE-2 in Python: efficiency against the ideal",
        f"A step takes {step:.0f} µs, less than waking a worker: workers pay with many environments, or slower ones.",
    )
    page.chart(quantities(ways, "share_mb", "MB (shared pages once)"), "CAGE-2: memory by number of environments")
    page.chart(quantities(ways, "start_seconds", "s"), "CAGE-2: start-up by number of environments")


def _stepped(result: StoredResult) -> list[StoredRow]:
    return [row for row in measured(result) if "way" in row["labels"]]
