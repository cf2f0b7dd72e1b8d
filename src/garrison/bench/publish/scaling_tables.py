"""Tables and charts on how cost grows: measured sizes, measured parts, forecasts, and forecasts beside measurements."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from garrison.bench.method.estimate import estimate
from garrison.bench.method.labels import GARRISON
from garrison.bench.publish.apart import Line, markdown_apart, row_line, table_apart
from garrison.bench.publish.chart_parts import points
from garrison.bench.publish.markdown import link, markdown, source
from garrison.bench.publish.scaling_forecasts import Case, cases
from garrison.bench.publish.scaling_parts import (
    BESIDE,
    COSTS,
    CROWD,
    FORECAST_COSTS,
    IN_CACHE,
    PER_WORKER,
    batch,
    native_parts,
    sizes_of,
    training_parts,
    worker_parts,
)
from garrison.bench.publish.stored import (
    StoredResult,
    StoredRow,
    by,
    compared,
    estimated,
    facts,
    find,
    load,
    measured,
    rate,
    rates,
    select,
)
from garrison.bench.scaling_model import PAIR, Forecast, serial_share
from garrison.cluster.scaling import Costs, predict
from garrison.formatting import duration, plural, ratio, short
from garrison.report.page import Page, Series, lines

MACHINES = (8, 32, 96)
"""Numbers of cores that are forecast."""
NODES = (1, 8, 32, 96)
PARTS = ("part", "what it is", "measured")
CHECK = ("", "cores", "forecast, steps/s", "measured", "measured / forecast", "verdict")


def sizes_header(result: StoredResult) -> tuple[str, ...]:
    """Return the header of `size_lines`."""
    most = plural(_most_threads(result), "thread")
    return ("environments", "a call", "a step of one", f"{most}, steps/s", "times one", "resident bytes each")


def size_lines(result: StoredResult) -> list[Line]:
    """Return what a step costs in every size of the native batch, on one and on all threads, and what it holds."""
    rows, most = measured(result), _most_threads(result)
    found: list[Line] = []
    for n in sizes_of(rows):
        one, all_threads = find(rows, **batch(n)), find(rows, **batch(n, most))
        if one is None:
            continue
        step = estimated(one).inverse()
        cells = (f"{n:,}", step.scaled(n).text(duration), step.text(duration))
        several = (rate(all_threads), compared(all_threads, one).times()) if all_threads else ("", "")
        resident = facts(one).get("resident_bytes")
        held = f"{resident / n:,.0f}" if resident else ""
        found.append(row_line((*cells, *several, held), all_threads or one))
    return found


def part_rows(result: StoredResult) -> list[tuple[str, ...]]:
    """Return every measured part of the model, with its interval."""
    rows = measured(result)
    return [*_native_rows(rows), *_worker_rows(rows), *_training_rows(rows)]


def _native_rows(rows: Sequence[StoredRow]) -> list[tuple[str, ...]]:
    parts = native_parts(rows)
    if not parts:
        return []
    largest = max(parts[0].costs)
    far = [each.costs[largest] for each in parts]
    least, most = [each.bytes_least for each in parts], [each.bytes_most for each in parts]
    needed = [size / cost for size, cost in zip(most, far, strict=True)]
    return [
        _part("call", [p.call for p in parts], "a call of the native batch, whatever its size"),
        _part("cost, in cache", [p.near for p in parts], f"an environment of a batch of {IN_CACHE:,}, one thread"),
        _part("cost, out of cache", far, f"an environment of a batch of {largest:,}, one thread"),
        _part("hand-over", [p.wake for p in parts], "what a second thread adds to a step"),
        _part("each thread", [p.each for p in parts], f"what each further one adds, {CROWD} threads on two cores"),
        _share("in step", [p.in_step for p in parts], "speed of each of two threads that wait for each other"),
        ("bytes", "moved by a step of an environment: at least, at most", _span(least, most, short)),
        ("copying", "bytes/s that one thread reads and writes", _rates([p.copy_one for p in parts])),
        ("copying, two", "bytes/s that two threads read and write", _rates([p.copy_pair for p in parts])),
        ("needed", f"bytes/s that one thread moves at most when it steps {largest:,} environments", _rates(needed)),
    ]


def _worker_rows(rows: Sequence[StoredRow]) -> list[tuple[str, ...]]:
    parts = worker_parts(rows)
    if not parts:
        return []
    cheap = FORECAST_COSTS[0]
    serial = [p.caller / (p.caller + p.inside + p.steps[cheap]) for p in parts]
    return [
        _part("fixed", [p.fixed for p in parts], "a step of `shared` with one worker, whatever the environments"),
        _part("second worker", [p.second for p in parts], "what a second worker adds to that"),
        _part("each worker", [p.each for p in parts], f"what each further one adds, {CROWD} workers on two cores"),
        _part("caller", [p.caller for p in parts], "an environment's part in the caller, which nobody shares"),
        _part("inside", [p.inside for p in parts], "its part in the worker, around its own step"),
        _share("serial", serial, f"the caller's share of a step of {cheap}"),
        _share("together, loops", [p.together for p in parts], f"speed of each of two bare loops of {BESIDE}"),
    ]


def _training_rows(rows: Sequence[StoredRow]) -> list[tuple[str, ...]]:
    parts = training_parts(rows)
    if not parts:
        return []
    least, most = ([serial_share(p, hopeful) for p in parts] for hopeful in (True, False))
    beside = "speed of each of two cores that step batches side by side"
    what = "the share of training that a second core did not make shorter: at least, at most"
    return [
        _share("together, batches", [p.together for p in parts], beside),
        ("serial, PPO", what, _span(least, most, "{:.0%}".format)),
    ]


def forecast_header() -> tuple[str, ...]:
    """Return the header of `forecast_rows`."""
    return ("steps/s (times one core)", "1 core, measured", *(f"{n} cores" for n in MACHINES))


def forecast_rows(result: StoredResult) -> list[tuple[str, ...]]:
    """Return every case on the machines of `MACHINES`: steps/s, and how many times one core that is."""
    rows = measured(result)
    found: list[tuple[str, ...]] = []
    for case in cases(rows):
        base = find(rows, **case.base)
        cells = [f"{_ends(case.rate(n))} ({_ends(case.gain(n), ratio)})" for n in MACHINES]
        found.append((case.name, rate(base) if base else "", *cells))
    return found


def check_rows(result: StoredResult) -> list[tuple[str, ...]]:
    """Return every forecast that was measured as well: both, their ratio and a verdict."""
    rows = measured(result)
    return [line for case in cases(rows) for line in _checked(case, rows, result["machine"]["cores"])]


def _checked(case: Case, rows: Sequence[StoredRow], most: int) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for cores in range(case.checked_from, most + 1):
        if row := find(rows, **case.row(cores)):
            ahead, got = case.rate(cores), estimated(row)
            seen = ahead.compare(rates(row))
            verdict = seen.verdict if got.is_interval else f"{seen.verdict} ({plural(got.rounds, 'round')})"
            found.append((case.name, str(cores), _ends(ahead), got.text(), seen.times.times(), verdict))
    return found


def node_rows(costs: Costs) -> list[tuple[str, ...]]:
    """Return what Ray nodes would do with environments of each cost, one actor a node, and what limits them."""
    found: list[tuple[str, ...]] = []
    for name in FORECAST_COSTS:
        ahead = [predict(replace(costs, actor_rate=1 / COSTS[name]), nodes) for nodes in NODES]
        found.append((f"steps of {name}", *(f"{short(p.rate)} ({p.efficiency:.0%}, {p.limit})" for p in ahead)))
    return found


def batch_table(folder: Path) -> str:
    """Return the cost of a step by size of the batch."""
    result = load(folder, "scaling")
    left_out = " ".join(result.get("left_out", ()))
    return markdown_apart(
        sizes_header(result),
        size_lines(result),
        result,
        "Random actions, both attackers, episodes of 100 steps, in all of which the environments are spread evenly.",
        "A call steps the whole batch; both times are on one thread.",
        "Resident is what the process grew by when the batch was made and stepped once.",
        f"{left_out} {source(result, 'scaling')}".strip(),
    )


def parts_table(folder: Path) -> str:
    """Return the measured parts of the model."""
    result = load(folder, "scaling")
    return markdown(PARTS, part_rows(result), source(result, "scaling"), left=2)


def cores_table(folder: Path) -> str:
    """Return the forecasts."""
    result = load(folder, "scaling")
    return markdown(
        forecast_header(),
        forecast_rows(result),
        "From the lower end of the cautious line to the upper end of the hopeful one; in brackets times the one core",
        f"that was measured. `shared` has a worker for every core and {PER_WORKER} environments for every worker, and",
        f"its one core is a bare loop. From the parts in {link('scaling')}.",
    )


def check_table(folder: Path) -> str:
    """Return the forecasts beside their measurements on the machine that the parts come from."""
    result = load(folder, "scaling")
    return markdown(
        CHECK,
        check_rows(result),
        "Measured / forecast is to the middle of the forecast, round by round. Below and above mean that the whole",
        f"interval of the ratio to the nearer line lies outside. {source(result, 'scaling')}",
    )


def nodes_table(folder: Path) -> str:
    """Return what Ray nodes would do, from the stored costs of a trajectory's transport."""
    costs = Costs(**load(folder, "cluster")["models"]["compiled"]["costs"])
    return markdown(
        ("one actor a node", *(plural(n, "node") for n in NODES)),
        node_rows(costs),
        "Steps/s, and in brackets the share of what the actors alone could do, and what limits them. A trajectory of",
        f"{costs.steps_per_trajectory:,} steps costs an actor {duration(costs.fetch_seconds)} to fetch weights, and",
        f"the learner {duration(costs.handle_seconds)} to take it in and {duration(costs.publish_seconds)} to publish",
        f"the next weights; a step sends {costs.bytes_per_step:.0f} bytes and is learned from in",
        f"{duration(costs.learn_seconds)} ({link('cluster')}).",
    )


def growth(page: Page, result: StoredResult) -> None:
    """Show throughput by size of the batch, the parts and the forecasts."""
    rows, most = measured(result), _most_threads(result)
    native = select(rows, who=GARRISON, learner=None, where=None, work=None, backend=None)
    series = [points(plural(k, "thread"), by(select(native, threads=k), "envs")) for k in sorted({1, most})]
    chart = lines(series, x_label="environments in the batch", y_label="steps/s", log_x=True, log_y=True)
    page.chart(chart, "Throughput by number of environments")
    table_apart(page, sizes_header(result), size_lines(result), result)
    for sentence in result.get("left_out", ()):
        page.text(sentence)
    _parts(page, result)
    beside(page, result)
    forecasts = cases(rows)
    if forecasts:
        series = [_band(case) for case in forecasts]
        chart = lines(series, x_label="cores", y_label="times one core", log_x=True, log_y=True)
        note = "From the cautious line to the hopeful one: a model, of which two cores are measured."
        page.chart(chart, "Forecast: times one core", note)
        page.table(forecast_header(), forecast_rows(result))


def cores_checked(page: Page, result: StoredResult) -> None:
    """Show forecasts beside measurements, and the parts."""
    beside(page, result)
    _parts(page, result)


def beside(page: Page, result: StoredResult) -> None:
    """Show forecasts beside measurements."""
    if found := check_rows(result):
        page.table(CHECK, found, caption="Forecast beside measurement")


def _parts(page: Page, result: StoredResult) -> None:
    if found := part_rows(result):
        page.table(PARTS, found, caption="Measured parts")


def _band(case: Case) -> Series:
    machines = [PAIR, *MACHINES]
    gains = [case.gain(n) for n in machines]
    tips = [f"{n} cores: {_ends(gain, ratio)}" for n, gain in zip(machines, gains, strict=True)]
    middle = [estimate(gain.middle).value for gain in gains]
    low, high = [gain.low for gain in gains], [gain.high for gain in gains]
    return Series(case.name.replace("`", ""), machines, middle, low, high, tips=tips)


def _most_threads(result: StoredResult) -> int:
    rows = select(measured(result), who=GARRISON, learner=None, where=None, envs=1)
    return max((row["labels"].get("threads", 1) for row in rows), default=1)


def _part(name: str, seconds: Sequence[float], what: str) -> tuple[str, ...]:
    return (name, what, estimate(seconds).text(duration))


def _share(name: str, shares: Sequence[float], what: str) -> tuple[str, ...]:
    return (name, what, estimate(shares).text("{:.1%}".format))


def _rates(values: Sequence[float]) -> str:
    return estimate(values).text()


def _span(least: Sequence[float], most: Sequence[float], write: Callable[[float], str]) -> str:
    """Write from the lower end of one estimate to the upper end of another."""
    return f"{write(estimate(least).low)} to {write(estimate(most).high)}"


def _ends(ahead: Forecast, write: Callable[[float], str] = short) -> str:
    low, high = write(ahead.low), write(ahead.high)
    return low if low == high else f"{low} to {high}"
