"""The page on vector backends: every cost and number of environments, and scaling with workers."""

from dataclasses import replace

from garrison.bench.method.labels import GARRISON, LIMIT, LOOP
from garrison.bench.publish.apart import line, table_apart
from garrison.bench.publish.chart_parts import Rows, efficiency, points, quantities, row_bars
from garrison.bench.publish.stored import (
    StoredResult,
    StoredRow,
    by,
    compared,
    find,
    groups,
    measured,
    rate,
    rate_alone,
    select,
    short_name,
    value,
)
from garrison.report.page import Page, Series, bars, heatmap, lines

SHOWN_PEERS = (
    ("Gymnasium", "Async, shared memory"),
    ("SB3", "Subproc"),
    ("PufferLib", "Multiprocessing"),
    ("Tianshou", "Shmem"),
    ("TorchRL", "ParallelEnv"),
    ("TorchRL", "AsyncEnvPool"),
)


def share_of_limit(page: Page, result: StoredResult) -> None:
    """Show every backend and peer as a share of the limit, one map per number of environments."""
    page.text(
        "The limit is one bare loop per core that never speaks to anybody. An environment of CAGE-2's shapes does a "
        "fixed amount of work in a step; uneven: log-normal around the same mean."
    )
    rows = [row for row in measured(result) if row["labels"]["who"] != LIMIT]
    costs = _costs(result)
    ways = groups(rows, "who", "backend")
    for size in _sizes(result):
        limits = by(select(measured(result), who=LIMIT, envs=size), "cost")
        values: list[list[float | None]] = []
        doubtful = []
        for some in ways.values():
            here = by(select(some, envs=size), "cost")
            both = [(here.get(cost), limits.get(cost)) for cost in costs]
            shares = [compared(row, limit) if row and limit else None for row, limit in both]
            values.append([one and one.value for one in shares])
            doubtful.append([one is not None and not one.is_narrow for one in shares])
        chart = heatmap(list(ways), costs, values, write=lambda v: f"{v:.0%}", doubtful=doubtful)
        page.chart(chart, f"Share of the limit, {size} environments")


def backend_throughput(page: Page, result: StoredResult) -> None:
    """Show throughput by number of environments, one chart per cost."""
    sizes = _sizes(result)
    for cost in _costs(result):
        shown = _shown(result, cost)
        limit = by(select(measured(result), who=LIMIT, cost=cost), "envs")
        if len(sizes) > 1:
            series = [points(way, rows) for way, rows in shown.items()]
            series.append(replace(points(LIMIT, limit), dashed=True))
            chart = lines(series, x_label="environments", y_label="steps/s", log_x=True, log_y=True)
            page.chart(chart, f"Throughput by number of environments, {_steps(cost)}")
        else:
            here = {way: rows[sizes[0]] for way, rows in ({LIMIT: limit} | shown).items() if sizes[0] in rows}
            chart = bars(list(here), [row_bars("steps/s", list(here.values()))], y_label="steps/s")
            page.chart(chart, f"Throughput, {sizes[0]} environments, {_steps(cost)}")


def backend_costs(page: Page, result: StoredResult) -> None:
    """Show memory and start-up, which hardly depend on the cost of a step."""
    sizes = _sizes(result)
    for cost in _costs(result)[-1:]:
        shown = _shown(result, cost)
        if len(sizes) > 1:
            page.chart(
                quantities(shown, "share_mb", "MB (shared pages once)"),
                "Memory by number of environments",
                _steps(cost),
            )
            page.chart(quantities(shown, "start_seconds", "s"), "Start-up by number of environments", _steps(cost))
            continue
        table = [
            [way, f"{row['share_mb']:.0f}", f"{row['start_seconds']:.2f}", f"{row['samples'][0]['processes']}"]
            for way, rows in shown.items()
            for row in rows.values()
        ]
        header = ["backend", "MB (shared pages once)", "start s", "processes"]
        page.table(header, table, caption=f"{sizes[0]} environments, {_steps(cost)}")


def scaling(page: Page, result: StoredResult) -> None:
    """Show throughput and efficiency of the worker backends by number of workers."""
    cores = result["machine"]["cores"]
    one = find(measured(result), who=LOOP)
    if one is None:
        return
    ways = {name: by(some, "workers") for name, some in _with_workers(result).items()}
    workers = sorted({n for rows in ways.values() for n in rows})
    ideal = {n: (min(n, cores), one) for n in workers}
    series = [points(way, rows) for way, rows in ways.items()]
    best = [times * value(one) for times, _ in ideal.values()]
    series.append(Series("ideal", workers, best, dashed=True, marked=False))
    chart = lines(series, x_label="workers", y_label="steps/s", log_x=True, zero=True)
    note = "32 environments of 500 µs. Limit: loops that never wait."
    page.chart(chart, f"Throughput by number of workers, {cores} cores", note)
    shares = [efficiency(way, rows, ideal) for way, rows in ways.items()]
    label = "share of the ideal (workers, at most the cores, x one loop)"
    page.chart(lines(shares, x_label="workers", y_label=label, log_x=True, zero=True), "Efficiency against the ideal")
    table = []
    for way, rows in ways.items():
        for n, row in sorted(rows.items()):
            part = compared(row, one, ideal[n][0])
            table.append(line((way, str(n), rate(row), part.share()), part))
    table_apart(page, ["", "workers", "steps/s", "of the ideal"], table, result)
    page.text(f"One bare loop, steps/s: {rate_alone(one)}.")


def _with_workers(result: StoredResult) -> dict[str, list[StoredRow]]:
    return groups((row for row in measured(result) if "workers" in row["labels"]), "who", "backend")


def _costs(result: StoredResult) -> list[str]:
    return list(dict.fromkeys(row["labels"]["cost"] for row in measured(result)))


def _sizes(result: StoredResult) -> list[int]:
    return sorted({row["labels"]["envs"] for row in measured(result)})


def _shown(result: StoredResult, cost: str) -> dict[str, Rows]:
    found: dict[str, Rows] = {}
    for row in select(measured(result), cost=cost):
        way = row["labels"]["who"], row["labels"].get("backend")
        if way[0] == GARRISON or way in SHOWN_PEERS:
            found.setdefault(short_name(row, "who", "backend"), by(_same_way(result, row), "envs"))
    return found


def _same_way(result: StoredResult, row: StoredRow) -> list[StoredRow]:
    labels = row["labels"]
    return select(measured(result), who=labels["who"], backend=labels.get("backend"), cost=labels["cost"])


def _steps(cost: str) -> str:
    return "steps that cost nothing" if cost == "free" else f"steps of {cost}"
