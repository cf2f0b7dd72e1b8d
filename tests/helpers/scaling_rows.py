"""Rows of `garrison bench scaling` on a machine whose parts are known."""

from typing import Any

from garrison.bench.publish import scaling_parts as parts_of
from garrison.bench.publish.scaling_parts import batch, copying, loop, on_two_cores, shared, training
from garrison.bench.publish.stored import StoredRow
from garrison.bench.scaling_model import NativeParts, TrainingParts, WorkerParts, native_seconds, worker_seconds

US, NS = 1e-6, 1e-9
FACTORS = (1.0, 1.01, 0.99) * 2
MOVED = {"bytes_least": 700.0, "bytes_most": 1400.0}
NATIVE = NativeParts(
    call=5 * US,
    near=100 * NS,
    costs={1: 100 * NS, 1_000: 100 * NS, 10_000: 110 * NS, 1_000_000: 200 * NS},
    wake=20 * US,
    each=10 * US,
    in_step=0.85,
    bytes_least=700.0,
    bytes_most=1400.0,
    copy_one=10e9,
    copy_pair=16e9,
)
WORKERS = WorkerParts(
    steps={"free": 0.2 * US, "50 µs": 50 * US, "500 µs": 500 * US, "3 ms": 3e-3},
    fixed=60 * US,
    second=20 * US,
    each=10 * US,
    caller=0.5 * US,
    inside=1 * US,
    together=0.8,
)
TRAINED = TrainingParts(one=10 * US, two=6 * US, together=0.9)


def row(labels: dict[str, Any], seconds: float, **facts: float) -> StoredRow:
    """Return a row whose steps take so many seconds, a little more or less from round to round."""
    return {
        "labels": labels,
        "arguments": {},
        "steps_per_second": 1 / seconds,
        "start_seconds": 0.1,
        "peak_mb": 50.0,
        "share_mb": 40.0,
        "partner": None,
        "steady": True,
        "error": None,
        "samples": [
            {"steps": 1e6, "wall_seconds": 1e6 * seconds * f, "cpu_seconds": 1.0, "processes": 1, "facts": facts}
            for f in FACTORS
        ],
    }


def step_of(envs: int, threads: int) -> float:
    return native_seconds(NATIVE, envs, threads, hopeful=False) / envs


def handed_over(envs: int, threads: int) -> float:
    """Return what a step takes on two cores, which more threads do not make more of."""
    model = NativeParts(**{**vars(NATIVE), "costs": {4_000: 105 * NS, 40_000: 120 * NS}})
    crowd = max(0, threads - 2) * NATIVE.each
    return (native_seconds(model, envs, min(threads, 2), hopeful=False) + crowd) / envs


def behind(envs: int, workers: int, cost: str = "free") -> float:
    return worker_seconds(WORKERS, envs, workers, cost, hopeful=False) / envs


def scaling_rows(cores: int = 2, slower: float = 1.0) -> list[StoredRow]:
    """Return what `garrison bench scaling` would measure if the cautious line were true."""
    rows = [row(batch(n), step_of(n, 1), resident_bytes=1300.0 * n, **MOVED) for n in NATIVE.costs]
    rows += [row(batch(n, 2), step_of(n, 2), **MOVED) for n in NATIVE.costs]
    rows += [row(batch(10_000, k), slower * step_of(10_000, k), **MOVED) for k in (4, 8) if k <= cores]
    rows.append(row(parts_of.BATCHES_BESIDE, (NATIVE.costs[10_000] + NATIVE.call / 10_000) / 2 / 0.9))
    places = [(4_000, 1), (4_000, 2), (4_000, 8), (40_000, 1), (40_000, 2)]
    rows += [row(on_two_cores(batch(n, k)), handed_over(n, k)) for n, k in places]
    rows += [row(copying(1), 1 / 10e9), row(copying(2), 1 / 16e9)]
    rows += [row(loop(cost), seconds) for cost, seconds in WORKERS.steps.items()]
    rows.append(row(parts_of.LOOPS_BESIDE, 500 * US / 2 / 0.8))
    rows += [row(shared(n, w), behind(n, w)) for n in (2, 512) for w in (1, 2)]
    rows.append(row(on_two_cores(shared(8, 8)), behind(8, 8)))
    rows += [row(shared(8 * w, w, cost), behind(8 * w, w, cost)) for cost in ("50 µs", "3 ms") for w in (1, 2)]
    rows += [row(training(1), 10 * US), row(training(2), 6 * US)]
    return rows
