"""From the rows of `garrison bench scaling` to the parts of the model, one set for every round.

All parts of a round come from the same minutes, and a forecast is made for each round before the rounds are put
together: so its interval knows what the parts have in common.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from garrison.bench.method.labels import COPY, GARRISON, LIMIT, LOOP, Labels
from garrison.bench.publish.stored import StoredRow, facts, find, select
from garrison.bench.scaling_model import PAIR, NativeParts, TrainingParts, WorkerParts

COSTS = {"free": 0.0, "50 µs": 50e-6, "500 µs": 500e-6, "3 ms": 3e-3}
"""Steps of the synthetic environment, in seconds."""
FORECAST_COSTS = tuple(COSTS)[1:]
BESIDE = "500 µs"
"""The steps of the loops that run side by side."""
IN_CACHE = 1_000
"""Environments of a batch that a core's own cache holds."""
IN_THREADS = 10_000
"""Environments of the batch that threads share, and of those that run side by side."""
HANDED_OVER, HANDED_MANY = 4_000, 40_000
"""Environments of the batches that tell what two threads cost: a part for every step, and one of all the work."""
CROWD = 8
"""Threads or workers that take turns on two cores."""
FEW, MANY = 2, 512
"""Environments behind `shared`, of steps that cost nothing: the difference is what an environment costs."""
PER_WORKER = 8
"""Environments of each worker in forecasts and their checks."""


def batch(envs: int, threads: int = 1) -> Labels:
    """Return the labels of the native batch."""
    return {"who": GARRISON, "envs": envs, "threads": threads}


def on_two_cores(labels: Labels) -> Labels:
    """Return the labels of a row that may use two cores only."""
    return labels | {"where": "on two cores"}


BATCHES_BESIDE: Labels = {"who": GARRISON, "work": "two batches side by side", "envs": IN_THREADS}
LOOPS_BESIDE: Labels = {"who": LIMIT, "workers": PAIR, "cost": BESIDE}


def copying(threads: int) -> Labels:
    """Return the labels of memory that is copied."""
    return {"who": COPY, "threads": threads}


def loop(cost: str) -> Labels:
    """Return the labels of environments that are stepped in a bare loop."""
    return {"who": LOOP, "cost": cost}


def shared(envs: int, workers: int, cost: str = "free") -> Labels:
    """Return the labels of the `shared` backend."""
    return {"who": GARRISON, "backend": "shared", "envs": envs, "workers": workers, "cost": cost}


def training(threads: int) -> Labels:
    """Return the labels of PPO."""
    return {"who": GARRISON, "learner": "PPO", "threads": threads}


def sizes_of(rows: Iterable[StoredRow]) -> list[int]:
    """Return the sizes of the native batches that were measured on one thread."""
    found = select(rows, who=GARRISON, threads=1, learner=None, where=None)
    return sorted(row["labels"]["envs"] for row in found)


def native_parts(rows: Sequence[StoredRow]) -> list[NativeParts]:
    """Return the parts of the native batch, round by round; none where a row is missing."""
    sizes = sizes_of(rows)
    if not {1, IN_CACHE, IN_THREADS} <= set(sizes):
        return []
    largest = sizes[-1]
    wanted: dict[Any, Labels] = {
        **{n: batch(n) for n in sizes},
        "pair": batch(largest, PAIR),
        **{(n, k): on_two_cores(batch(n, k)) for n in (HANDED_OVER, HANDED_MANY) for k in (1, PAIR)},
        "crowd": on_two_cores(batch(HANDED_OVER, CROWD)),
        "copy one": copying(1),
        "copy pair": copying(PAIR),
    }
    told = find(rows, **batch(IN_THREADS))
    moved = facts(told) if told else {}
    return [_native(seconds, sizes, moved) for seconds in times(rows, wanted)]


def _native(seconds: dict[Any, float], sizes: Sequence[int], moved: dict[str, float]) -> NativeParts:
    near = (IN_CACHE * seconds[IN_CACHE] - seconds[1]) / (IN_CACHE - 1)
    call = max(0.0, seconds[1] - near)
    # A step of two threads is hand-over + work / (2 in_step): two sizes, two unknowns.
    few, many = HANDED_OVER * seconds[HANDED_OVER, 1] - call, HANDED_MANY * seconds[HANDED_MANY, 1] - call
    in_two, more = (n * seconds[n, PAIR] - call for n in (HANDED_OVER, HANDED_MANY))
    in_step = _share_of(many - few, PAIR * (more - in_two)) if more > in_two else 1.0
    copy_pair = 1 / seconds["copy pair"]
    return NativeParts(
        call=call,
        near=near,
        costs={n: max(near / 2, seconds[n] - call / n) for n in sizes},
        wake=max(0.0, in_two - few / (PAIR * in_step)),
        each=max(0.0, (HANDED_OVER * seconds["crowd"] - call - in_two) / (CROWD - PAIR)),
        in_step=in_step,
        bytes_least=moved["bytes_least"],
        # A batch that is stepped so quickly cannot move more.
        bytes_most=max(moved["bytes_least"], min(moved["bytes_most"], copy_pair * seconds["pair"])),
        copy_one=1 / seconds["copy one"],
        copy_pair=copy_pair,
    )


def worker_parts(rows: Sequence[StoredRow]) -> list[WorkerParts]:
    """Return the parts of the `shared` backend, round by round; none where a row is missing."""
    wanted: dict[Any, Labels] = {(n, w): shared(n, w) for n in (FEW, MANY) for w in (1, PAIR)}
    wanted |= {cost: loop(cost) for cost in COSTS}
    wanted |= {"crowd": on_two_cores(shared(CROWD, CROWD)), "beside": LOOPS_BESIDE}
    return [_workers(seconds) for seconds in times(rows, wanted)]


def _workers(seconds: dict[Any, float]) -> WorkerParts:
    together = _share_of(seconds[BESIDE], PAIR * seconds["beside"])
    step = {place: place[0] * seconds[place] for place in seconds if isinstance(place, tuple)}
    alone, pair = ((step[MANY, w] - step[FEW, w]) / (MANY - FEW) for w in (1, PAIR))
    # alone = caller + worker; pair = caller + worker / (2 together): nobody shares the caller's part.
    worker = min(max(alone, 0.0), max(0.0, (alone - pair) / (1 - 1 / (PAIR * together))))
    caller = max(0.0, alone - worker)
    fixed = max(0.0, step[FEW, 1] - FEW * alone)
    second = max(0.0, step[FEW, PAIR] - FEW * caller - worker - fixed)
    crowd = CROWD * seconds["crowd"] - CROWD * caller - worker - fixed - second
    return WorkerParts(
        steps={cost: seconds[cost] for cost in COSTS},
        fixed=fixed,
        second=second,
        each=max(0.0, crowd / (CROWD - PAIR)),
        caller=caller,
        inside=max(0.0, worker - seconds["free"]),
        together=together,
    )


def training_parts(rows: Sequence[StoredRow]) -> list[TrainingParts]:
    """Return the parts of training, round by round; none where a row is missing."""
    wanted: dict[Any, Labels] = {
        "one": training(1),
        "two": training(PAIR),
        "beside": BATCHES_BESIDE,
        "batch": batch(IN_THREADS),
    }
    return [
        TrainingParts(each["one"], each["two"], _share_of(each["batch"], PAIR * each["beside"]))
        for each in times(rows, wanted)
    ]


def times(rows: Sequence[StoredRow], wanted: dict[Any, Labels]) -> list[dict[Any, float]]:
    """Return the seconds of a step in each of these rows, for every round that all of them have."""
    found = {name: find(rows, **labels) for name, labels in wanted.items()}
    if any(row is None for row in found.values()):
        return []
    # A row of a quick look may not have finished a step.
    by_row = [[s["wall_seconds"] / max(s["steps"], 1) for s in row["samples"]] for row in found.values() if row]
    return [dict(zip(found, each, strict=True)) for each in zip(*by_row, strict=False)]


def _share_of(alone: float, beside: float) -> float:
    """Return the share of a lone core's speed that each of two has; above a half, or the second would be no gain."""
    return min(1.0, max(0.51, alone / beside))
