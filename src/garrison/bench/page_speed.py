"""The page's sections on stepping environments: the simulator, the backends, and how they scale."""

import re
from collections.abc import Sequence
from dataclasses import replace

from garrison.bench.results import Result, Row, bounds, cells, is_steady, measured, over, rate, share
from garrison.report.page import Bars, Cell, Chart, Page, Series, bars, heatmap, lines

SHOWN_PEERS = ("Gymnasium Async, shared memory", "SB3 Subproc", "PufferLib Multiprocessing")


def points(name: str, rows: dict[int, Row]) -> Series:
    """Return rates by number, with the range of their repeats."""
    found = sorted(rows.items())
    low, high = zip(*(bounds(row) for _, row in found), strict=True) if found else ((), ())
    return Series(
        name,
        [n for n, _ in found],
        [row["steps_per_second"] for _, row in found],
        low,
        high,
        [not is_steady(row) for _, row in found],
        [f"{n}: {rate(row)} steps/s" for n, row in found],
    )


def quantities(ways: dict[str, dict[int, Row]], key: str, label: str) -> Chart:
    """Return one of the rows' other numbers (`start_seconds`, `share_mb`) by number of environments."""
    series = [Series(way, sorted(rows), [rows[n][key] for n in sorted(rows)]) for way, rows in ways.items()]
    values = [value for one in series for value in one.y if value]
    far_apart = bool(values) and max(values) > 10 * min(values)
    return lines(series, x_label="environments", y_label=label, log_x=True, log_y=far_apart, zero=True)


def efficiency(name: str, rows: dict[int, Row], ideal: dict[int, tuple[int, Row]]) -> Series:
    """Return rates as a share of the ideal: so many times that row."""
    sizes = [n for n in sorted(rows) if n in ideal]
    bases = [times * base["steps_per_second"] for times, base in (ideal[n] for n in sizes)]
    return Series(
        name,
        sizes,
        [rows[n]["steps_per_second"] / base for n, base in zip(sizes, bases, strict=True)],
        doubtful=[not (is_steady(rows[n]) and is_steady(ideal[n][1])) for n in sizes],
        tips=[f"{n}: {share(rows[n], ideal[n][1], ideal[n][0])}" for n in sizes],
    )


def simulator(page: Page, result: Result) -> None:
    """Show the native batch by size and threads, beside the peers, and what starting costs."""
    rows = measured(result)
    batches = {n: row for n, threads, row in _batches(rows) if threads == 1}
    alone = [points("garrison, native batch", batches)]
    peers = [(name, row) for name, row in rows.items() if not name.startswith("garrison")]
    ends = [min(batches, default=1), max(batches, default=1)]
    alone += [Series(name, ends, [row["steps_per_second"]] * 2, dashed=True, marked=False) for name, row in peers]
    chart = lines(alone, x_label="environments in the batch", y_label="steps/s", log_x=True, log_y=True)
    page.chart(
        chart, "Throughput by number of environments", "One thread. Dashed: peers, at the one size that was measured."
    )
    threaded = {threads: row for n, threads, row in _batches(rows) if n == 10_000}
    if len(threaded) > 1:
        shares = efficiency("10,000 environments", threaded, {k: (k, threaded[1]) for k in threaded})
        page.chart(
            lines(
                [shares], x_label="threads", y_label="share of the ideal (threads x one thread)", zero=True, height=260
            ),
            "Scaling with threads",
        )
    if held := {n: row["samples"][0]["facts"]["batch_mb"] for n, row in batches.items()}:
        table = [[f"{n:,}", f"{mb:.3g}", f"{1e6 * mb / n:.0f}"] for n, mb in sorted(held.items())]
        page.table(["environments", "MB of the batch", "bytes each"], table, caption="Memory")
    written = {
        "import_seconds": "import garrison",
        "warm_first_step_seconds": "first step",
        "cold_first_step_seconds": "first step, with the one-time compile",
    }
    start = [[written[name], f"{seconds:.2f}"] for name, seconds in result.get("startup", {}).items()]
    page.table(["start-up", "seconds"], start)
    base = rows.get("CybORG, meander")
    header = ["", "steps/s", *(["times CybORG"] if base else [])]
    page.table(header, [[n, _speed(row), *([over(row, base)] if base else [])] for n, row in rows.items()])


def _batches(rows: dict[str, Row]) -> list[tuple[int, int, Row]]:
    pattern = re.compile(r"garrison, batch of (\d+)(?:, (\d+) threads)?")
    matches = [(pattern.fullmatch(name), row) for name, row in rows.items()]
    return [(int(m[1]), int(m[2] or 1), row) for m, row in matches if m]


def _speed(row: Row) -> Cell:
    return Cell(rate(row), doubtful=not is_steady(row))


def backends(page: Page, result: Result) -> None:
    """Show every backend and peer: shares of the limit, throughput, memory and start-up by number of environments."""
    by_place: dict[tuple[str, int], dict[str, Row]] = {}
    for way, size, cost, row in cells(result):
        by_place.setdefault((cost, size), {})[way] = row
    costs, sizes = list(dict.fromkeys(c for c, _ in by_place)), sorted({n for _, n in by_place})
    ways = [*dict.fromkeys(way for rows in by_place.values() for way in rows if way != "limit")]
    page.text(
        "The limit is one bare loop per core that never speaks to anybody. An environment of CAGE-2's shapes does a "
        "fixed amount of work in a step; uneven: log-normal around the same mean."
    )
    for size in sizes:
        here = [by_place.get((cost, size), {}) for cost in costs]
        values = [[_of_limit(rows, way) for rows in here] for way in ways]
        known = [[{"limit", way} <= set(rows) for rows in here] for way in ways]
        doubtful = [
            [known[w][c] and share(rows[way], rows["limit"])[0] == "~" for c, rows in enumerate(here)]
            for w, way in enumerate(ways)
        ]
        chart = heatmap(ways, costs, values, write=lambda v: f"{v:.0%}", doubtful=doubtful)
        page.chart(chart, f"Share of the limit, {size} environments")
    shown = [way for way in ways if way.startswith("garrison") or way in SHOWN_PEERS]
    for cost in costs:
        series = [points(way, _by_size(by_place, cost, way)) for way in shown]
        series.append(replace(points("limit", _by_size(by_place, cost, "limit")), dashed=True))
        if len(sizes) > 1:
            chart = lines(series, x_label="environments", y_label="steps/s", log_x=True, log_y=True)
            page.chart(chart, f"Throughput by number of environments, {_steps(cost)}")
        else:
            chart = _bars(["limit", *shown], by_place[cost, sizes[0]])
            page.chart(chart, f"Throughput, {sizes[0]} environments, {_steps(cost)}")
    for cost in costs[-1:]:  # memory and start-up hardly depend on it
        _costs_of_many(page, {way: _by_size(by_place, cost, way) for way in shown}, _steps(cost))


def _steps(cost: str) -> str:
    return "steps that cost nothing" if cost == "free" else f"steps of {cost}"


def _of_limit(rows: dict[str, Row], way: str) -> float | None:
    if way not in rows or "limit" not in rows:
        return None
    return float(rows[way]["steps_per_second"] / rows["limit"]["steps_per_second"])


def _by_size(by_place: dict[tuple[str, int], dict[str, Row]], cost: str, way: str) -> dict[int, Row]:
    return {size: rows[way] for (c, size), rows in by_place.items() if c == cost and way in rows}


def _bars(ways: Sequence[str], rows: dict[str, Row]) -> Chart:
    known = [way for way in ways if way in rows]
    spans = [bounds(rows[way]) for way in known]
    values = [rows[way]["steps_per_second"] for way in known]
    doubtful = [not is_steady(rows[way]) for way in known]
    one = Bars("steps/s", values, [low for low, _ in spans], [high for _, high in spans], doubtful)
    return bars([way.removeprefix("garrison ") for way in known], [one], y_label="steps/s")


def _costs_of_many(page: Page, ways: dict[str, dict[int, Row]], what: str) -> None:
    sizes = sorted({n for rows in ways.values() for n in rows})
    if len(sizes) > 1:
        for key, title, label in (("share_mb", "Memory", "MB (shared pages once)"), ("start_seconds", "Start-up", "s")):
            page.chart(quantities(ways, key, label), f"{title} by number of environments", what)
        return
    table = [
        [way, f"{row['share_mb']:.0f}", f"{row['start_seconds']:.2f}", f"{row['samples'][0]['processes']}"]
        for way, rows in ways.items()
        for row in rows.values()
    ]
    page.table(
        ["backend", "MB (shared pages once)", "start s", "processes"], table, caption=f"{sizes[0]} environments, {what}"
    )


def scaling(page: Page, result: Result) -> None:
    """Show throughput and efficiency of the worker backends by number of workers."""
    cores = result["machine"]["cores"]
    by_way: dict[str, dict[int, Row]] = {}
    for way, number, _, row in cells(result):
        by_way.setdefault(way, {})[number] = row
    one = by_way.pop("plain loop", {}).get(1)
    if one is None:
        return
    workers = sorted({n for rows in by_way.values() for n in rows})
    ideal = {n: (min(n, cores), one) for n in workers}
    series = [points(way, rows) for way, rows in by_way.items()]
    series.append(
        Series(
            "ideal",
            workers,
            [times * one["steps_per_second"] for times, _ in ideal.values()],
            dashed=True,
            marked=False,
        )
    )
    chart = lines(series, x_label="workers", y_label="steps/s", log_x=True, zero=True)
    page.chart(
        chart,
        f"Throughput by number of workers, {cores} cores",
        "32 environments of 500 µs. Limit: loops that never wait.",
    )
    shares = [efficiency(way, rows, ideal) for way, rows in by_way.items()]
    label = "share of the ideal (workers, at most the cores, x one loop)"
    page.chart(lines(shares, x_label="workers", y_label=label, log_x=True, zero=True), "Efficiency against the ideal")
    rows_of = [
        [way, str(n), _speed(row), share(row, one, ideal[n][0])]
        for way, rows in by_way.items()
        for n, row in sorted(rows.items())
    ]
    page.table(["", "workers", "steps/s", "of the ideal"], rows_of)
    page.text(f"One bare loop: {rate(one)} steps/s.")
