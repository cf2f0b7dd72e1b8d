"""The page's sections on what users do: their own tables, training, and the record."""

from garrison.bench import users as bench_users
from garrison.bench.old_figures import CAGE2
from garrison.bench.page_speed import efficiency, points, quantities
from garrison.bench.results import Result, Row, bounds, cells, is_steady, measured, over, rate
from garrison.learn.stages import SYNCHRONOUS
from garrison.report.page import Bars, Cell, Page, Series, bars, lines
from garrison.report.stage_chart import stage_chart


def users(page: Page, result: Result) -> None:
    """Show every figure of theirs beside ours, then CAGE-2 in every way and number of environments."""
    page.text(
        "Ours, the same way: our CAGE-2 as a Python environment behind our backend of that kind. Native: the compiled "
        "batch. Theirs were measured on other machines (said below the tables), so a ratio is that of code and machine."
    )
    tables = result["tables"]
    known = [row for row in tables if row["same_way"] or row["native"]]
    for name in dict.fromkeys(row["table"] for row in known):
        these = [row for row in known if row["table"] == name]
        rows = [
            [row["what"], bench_users.theirs(row), *_figure(row, "same_way"), *_figure(row, "native")] for row in these
        ]
        header = ["", "theirs, steps/s", "ours, the same way", "times", "ours, native", "times"]
        page.heading(name[0].upper() + name[1:]).table(header, rows)
        page.remark(f"Theirs: {', '.join(dict.fromkeys(row['source'] for row in these))}.")
        for note in dict.fromkeys(row["note"] for row in these if row["note"]):
            page.remark(f"{', '.join(row['what'] for row in these if row['note'] == note)}: {note}.")
    for project, machine in result["measured_on"].items():
        page.remark(f"{project} measured {machine}.")
    ways: dict[str, dict[int, Row]] = {}
    original: dict[tuple[str, int], Row] = {}
    for way, size, env, row in cells(bench_users.stepped(result)):
        if env == CAGE2:
            ways.setdefault(way, {})[size] = row
        else:
            original[way, size] = row
    if original:
        rows = [
            [way, str(n), _speed(row), _speed(ways[way][n]), over(ways[way][n], row)]
            for (way, n), row in original.items()
            if n in ways.get(way, {})
        ]
        page.heading("CybORG itself on this machine, in the same run")
        page.table(["", "environments", "CybORG, steps/s", "ours, the same way", "times"], rows)
    _ways(page, ways, result["machine"]["cores"])


def _speed(row: Row) -> Cell:
    return Cell(rate(row), doubtful=not is_steady(row))


def _figure(row: Row, which: str) -> tuple[Cell, Cell]:
    doubtful = row[which] is not None and not row[which]["steady"]
    value, ratio = bench_users.ours(row, which)
    return Cell(value, doubtful=doubtful), Cell(ratio, doubtful=doubtful)


def _ways(page: Page, ways: dict[str, dict[int, Row]], cores: int) -> None:
    if len({n for rows in ways.values() for n in rows}) < 2 or "sequential" not in ways:
        return
    every = [points(way, rows) for way, rows in ways.items()]
    chart = lines(every, x_label="environments", y_label="steps/s", log_x=True, log_y=True)
    page.chart(chart, "CAGE-2: throughput by backend and number of environments")
    one = ways["sequential"]
    step = 1e6 / max(row["steps_per_second"] for row in one.values())
    ideal = {n: (min(n, cores), row) for n, row in one.items()}
    parallel = {way: rows for way, rows in ways.items() if way not in ("sequential", "native")}
    page.chart(
        lines(
            [efficiency(way, rows, ideal) for way, rows in parallel.items()],
            x_label="environments",
            y_label="share of the ideal (environments, at most the cores, x the sequential loop)",
            log_x=True,
            zero=True,
        ),
        "CAGE-2 in Python: efficiency against the ideal",
        f"A step takes {step:.0f} µs, less than waking a worker: workers pay with many environments, or slower ones.",
    )
    for key, title, label in (("share_mb", "memory", "MB (shared pages once)"), ("start_seconds", "start-up", "s")):
        page.chart(quantities(ways, key, label), f"CAGE-2: {title} by number of environments")


def train(page: Page, result: Result) -> None:
    """Show the trainers beside each other, where our time goes, and the ratios of this run."""
    rows = measured(result)
    groups: dict[str, dict[str, Row]] = {}
    for name, row in rows.items():
        who, _, job = name.partition(" ")
        if not name.startswith(("matrix", "Python")):
            groups.setdefault(job.removeprefix("products "), {})[who] = row
    who_all = [*dict.fromkeys(who for group in groups.values() for who in group)]
    series = []
    for who in who_all:
        group_rows = [group.get(who) for group in groups.values()]
        spans = [bounds(row) if row else (None, None) for row in group_rows]
        series.append(
            Bars(
                who,
                [row["steps_per_second"] if row else None for row in group_rows],
                [low for low, _ in spans],
                [high for _, high in spans],
                [row is not None and not is_steady(row) for row in group_rows],
            )
        )
    page.chart(bars(list(groups), series, y_label="steps/s"), "Acting, stepping and learning on native CAGE-2")
    split = {n: row["samples"][0]["facts"] for n, row in rows.items() if "learn" in row["samples"][0]["facts"]}
    if split:
        splits = [{stage: facts.get(stage, 0.0) for stage in SYNCHRONOUS} for facts in split.values()]
        page.chart(stage_chart(list(split), splits), "Where our trainer's time goes")
    sequence, workers = rows.get("Python, 32 in sequence"), rows.get("Python, 4 workers x 8")
    if sequence and workers:
        page.text(
            f"Python environments of 1 ms: 4 workers x 8 train {over(workers, sequence)} times as fast as 32 in turn."
        )
    page.table(["", "steps/s"], [[n, _speed(row)] for n, row in rows.items()])


def asynchronous(page: Page, result: Result) -> None:
    """Show the learners without a barrier beside PPO: on native CAGE-2, and on uneven Python environments."""
    for start, title in (
        ("native", "Acting, stepping and learning on native CAGE-2"),
        ("uneven: ", "On Python environments of about 1 ms with uneven steps; the bare loops are the ideal"),
    ):
        rows = {name.removeprefix(start): row for name, row in measured(result).items() if name.startswith(start)}
        spans = [bounds(row) for row in rows.values()]
        one = Bars(
            "steps/s",
            [row["steps_per_second"] for row in rows.values()],
            [low for low, _ in spans],
            [high for _, high in spans],
            [not is_steady(row) for row in rows.values()],
        )
        page.chart(bars([name.strip(", :") for name in rows], [one], y_label="steps/s"), title)
    shares = result.get("shares", {})
    page.table(["share of the ideal", ""], [[what, f"{share:.0%}"] for what, share in shares.items()])


def record(page: Page, result: Result) -> None:
    """Show the official total over time of every run, and when it passed the challenge's winner."""
    runs = result["runs"]
    series = []
    for run in runs:
        curve = [point for point in run["curve"] if point["total"] > -200]
        name = ", ".join(str(part) for part in (run["preset"], run.get("variant"), f"seed {run['seed']}") if part)
        minutes = [point["seconds"] / 60 for point in curve]
        series.append(Series(name, minutes, [point["total"] for point in curve], marked=False))
    longest = max((x for s in series for x in s.x), default=0.0)
    series.append(
        Series("winner of the challenge, -54.57", [0.0, longest], [-54.57, -54.57], dashed=True, marked=False)
    )
    page.chart(lines(series, x_label="minutes of training", y_label="official total"), "Official total over time")
    rows = []
    for run in runs:
        score = run["evaluation"]
        total = f"{score['total']:.2f} ± {score['ci95']:.2f}"
        rows.append(
            [f"`{run['command']}`", total, score["rules"], f"{run['seconds'] / 60:.1f}", f"{run['steps'] / 1e6:.1f}"]
        )
    page.table(["command", "official total", "rules", "minutes", "million steps"], rows)
