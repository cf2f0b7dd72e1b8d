"""`garrison bench scaling`: how cost grows, the parts that it is made of, and what more cores should give.

Without `--cores`: the native batch from 1 to 1,000,000 environments, the parts, and forecasts for larger machines. With
`--cores`: the parts on one and two cores, and forecasts for 1, 2, 4, ... all cores beside a measurement of each.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import psutil
import tyro

from garrison import system
from garrison.bench.method.fresh import Configuration
from garrison.bench.method.labels import COPY, LOOP, Labels, name_of
from garrison.bench.method.measure import doubling, measure
from garrison.bench.method.partners import pair
from garrison.bench.method.terminal import print_table
from garrison.bench.publish.apart import print_apart
from garrison.bench.publish.keep import keep
from garrison.bench.publish.scaling_forecasts import checked_sizes
from garrison.bench.publish.scaling_parts import (
    BATCHES_BESIDE,
    BESIDE,
    COSTS,
    CROWD,
    FEW,
    FORECAST_COSTS,
    HANDED_MANY,
    HANDED_OVER,
    IN_CACHE,
    IN_THREADS,
    LOOPS_BESIDE,
    MANY,
    PER_WORKER,
    batch,
    copying,
    loop,
    on_two_cores,
    shared,
    training,
)
from garrison.bench.publish.scaling_tables import (
    CHECK,
    PARTS,
    check_rows,
    forecast_header,
    forecast_rows,
    part_rows,
    size_lines,
    sizes_header,
)
from garrison.bench.publish.stored import StoredResult
from garrison.bench.scaling_model import PAIR
from garrison.bench.suites.arguments import MeasuringArguments
from garrison.bench.synthetic import rounds_per_second
from garrison.errors import UserError
from garrison.formatting import short

WORKLOADS, STEPPING = "garrison.bench.suites.scaling_workloads", "garrison.bench.suites.stepping"
TRAINERS = "garrison.bench.suites.our_trainers"
SIZES = tuple(10**k for k in range(7))
QUICK_SIZES = (1, IN_CACHE, IN_THREADS, 100_000)
BYTES_EACH = 1_600
"""What an environment of a batch, its actions and the copies while it is made are counted as, generously."""
SPARE = 0.8
"""The share of the available memory that a batch may take."""
LOOPED = 16
"""Environments of a bare loop."""
TRAINED = 2.0
"""How many times as long as stepping training is measured: an update takes half a second."""
JOB = {"num_envs": 1024, "rollout": 100, "minibatches": 8, "epochs": 4}


@dataclass(frozen=True)
class Arguments(MeasuringArguments):
    """Measure how cost grows and what it is made of; forecast what more cores should give."""

    cores: Annotated[tuple[int, ...] | None, tyro.conf.arg(metavar="[N ...]")] = None
    """Forecast beside measurement: for 1, 2, 4, ... all cores of this machine, or for those that are named."""
    seconds: float = 1.0
    """How long each works after its warm-up."""


def run(arguments: Arguments) -> int:
    """Measure, print the tables and keep the result."""
    most = system.cores()
    if most < PAIR:
        raise UserError("garrison bench scaling needs two cores to see what a second one adds; this process may use 1.")
    checks_only = arguments.cores is not None
    counts = _counts(arguments.cores, most)
    quick = QUICK_SIZES if arguments.quick else SIZES
    sizes, left_out = fitting([1, IN_CACHE, IN_THREADS, quick[-1]] if checks_only else quick, available_bytes())
    for sentence in left_out:
        print(sentence)
    rows = configurations(sizes, most, counts) if not checks_only else checking(sizes, counts)
    seconds = 0.2 if arguments.quick else arguments.seconds
    name = "scaling-cores" if checks_only else "scaling"
    result = measure(pair(rows, partners), arguments.rounds(name, quick=1), seconds=seconds, warm_up=seconds / 3)
    record = result.record(left_out=left_out)
    if not checks_only:
        title = "the native batch by number of environments"
        print_apart(title, sizes_header(record), size_lines(record), record)
    print_table("measured parts", PARTS, part_rows(record), text=PARTS[:2])
    print_table("forecast beside measurement", CHECK, check_rows(record), text=("verdict",))
    if not checks_only:
        print_table("forecast for larger machines", forecast_header(), forecast_rows(record))
    for sentence in failures(record):
        print(sentence)
    keep(arguments.out, name, record)
    return 0


def _counts(asked: Sequence[int] | None, most: int) -> list[int]:
    """Return on how many cores forecasts are checked."""
    if not asked:
        return doubling(most)
    for count in asked:
        if not 1 <= count <= most:
            raise UserError(f"--cores must be from 1 to {most}, which is what this process may use; got {count}.")
    return sorted(set(asked))


def available_bytes() -> int:
    """Return how much memory could be used now without swapping."""
    return int(psutil.virtual_memory().available)


def fitting(sizes: Iterable[int], available: int) -> tuple[list[int], list[str]]:
    """Return the sizes of batches that fit into this much memory, and a sentence for each that does not."""
    kept, left_out = [], []
    for n in sizes:
        if n * BYTES_EACH <= SPARE * available:
            kept.append(n)
        else:
            needed = f"{short(n * BYTES_EACH)}B may be needed, and {short(available)}B are available"
            left_out.append(f"{n:,} environments are left out: {needed}.")
    return kept, left_out


def configurations(sizes: Sequence[int], most: int, counts: Sequence[int]) -> list[Configuration]:
    """Return everything: the batch in all sizes on one and on all threads, the parts, and the checks."""
    rows = [_batch(n, threads) for n in sizes for threads in dict.fromkeys((1, most))]
    return _once([*rows, *checking(sizes, counts)])


def checking(sizes: Sequence[int], counts: Sequence[int]) -> list[Configuration]:
    """Return the parts, and what checks the forecasts on so many cores each."""
    rate = rounds_per_second()
    rounds = {cost: int(seconds * rate) for cost, seconds in COSTS.items()}
    rows = [_batch(n, 1) for n in sizes]
    rows += [_batch(n, threads) for n in checked_sizes(sizes) for threads in (*counts, PAIR)]
    rows.append(Configuration(BATCHES_BESIDE, f"{WORKLOADS}:batches_apart", {"num_envs": IN_THREADS}))
    rows += [_on_two_cores(_batch(n, k)) for n in (HANDED_OVER, HANDED_MANY) for k in (1, PAIR)]
    rows.append(_on_two_cores(_batch(HANDED_OVER, CROWD)))
    rows += [Configuration(copying(k), f"{WORKLOADS}:memory_copy", {"threads": k}) for k in (1, PAIR)]
    for cost in COSTS:
        rows.append(Configuration(loop(cost), f"{STEPPING}:plain", _given(LOOPED, rounds[cost])))
    beside = _given(PAIR * LOOPED, rounds[BESIDE]) | {"workers": PAIR}
    rows.append(Configuration(LOOPS_BESIDE, f"{STEPPING}:limit", beside))
    rows += [_shared(envs, workers, "free", 0) for envs in (FEW, MANY) for workers in (1, PAIR)]
    rows.append(_on_two_cores(_shared(CROWD, CROWD, "free", 0)))
    rows += [_shared(PER_WORKER * w, w, cost, rounds[cost]) for cost in FORECAST_COSTS for w in counts]
    if not system.missing("torch"):
        for k in dict.fromkeys((1, PAIR, *counts)):
            rows.append(Configuration(training(k), f"{TRAINERS}:ppo", {"job": JOB, "threads": k}, longer=TRAINED))
    return _once(rows)


def partners(labels: Labels) -> list[Labels]:
    """Return what a row is compared with: one thread, the bare loop of its cost, or the batch in the cache."""
    if labels["who"] == LOOP:
        return [labels]
    if "cost" in labels:
        return [loop(labels["cost"])]
    if labels["who"] == COPY or "learner" in labels or labels.get("threads", 1) > 1:
        return [labels | {"threads": 1}]
    return [batch(IN_THREADS)]


def failures(record: StoredResult) -> list[str]:
    """Return a sentence for every row that failed; what needs it is neither a part nor forecast."""
    failed = [row for row in record["results"] if row["error"]]
    return [f"{name_of(row['labels'])} failed: {row['error'].strip().splitlines()[-1]}" for row in failed]


def _batch(envs: int, threads: int) -> Configuration:
    return Configuration(batch(envs, threads), f"{WORKLOADS}:batch", {"num_envs": envs, "threads": threads})


def _given(envs: int, rounds: int) -> dict[str, Any]:
    return {"env": "synthetic", "options": {"rounds": rounds}, "num_envs": envs}


def _shared(envs: int, workers: int, cost: str, rounds: int) -> Configuration:
    given = _given(envs, rounds) | {"backend": "shared", "workers": workers}
    return Configuration(shared(envs, workers, cost), f"{STEPPING}:ours", given)


def _on_two_cores(row: Configuration) -> Configuration:
    given = {"function": row.workload, "arguments": row.arguments}
    return Configuration(on_two_cores(row.labels), f"{WORKLOADS}:on_two_cores", given)


def _once(rows: Iterable[Configuration]) -> list[Configuration]:
    """Return the rows without those that are there already: a check may also be a part or a size."""
    found: list[Configuration] = []
    for row in rows:
        if all(row.labels != other.labels for other in found):
            found.append(row)
    return found
