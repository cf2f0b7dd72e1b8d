"""What is forecast from measured parts, case by case, and which row checks it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from garrison.bench.method.labels import Labels
from garrison.bench.publish.scaling_parts import (
    FORECAST_COSTS,
    IN_THREADS,
    PER_WORKER,
    batch,
    loop,
    native_parts,
    shared,
    sizes_of,
    training,
    training_parts,
    worker_parts,
)
from garrison.bench.publish.stored import StoredRow
from garrison.bench.scaling_model import (
    OUT_OF_CACHE,
    PAIR,
    Forecast,
    NativeParts,
    TrainingParts,
    WorkerParts,
    forecast,
    native_seconds,
    training_seconds,
    worker_seconds,
)
from garrison.formatting import plural


@dataclass(frozen=True)
class Case:
    """Something that runs on any number of cores."""

    name: str
    row: Callable[[int], Labels]
    """The labels of the row that measures it on so many cores."""
    base: Labels
    """The row on one core that its gain is compared with."""
    rate: Callable[[int], Forecast]
    """Steps a second on so many cores."""
    gain: Callable[[int], Forecast]
    """How many times the base that is."""
    checked_from: int = PAIR
    """Cores from which on a measurement checks the forecast: on fewer, it is what the parts were taken from."""


def cases(rows: Sequence[StoredRow]) -> list[Case]:
    """Return all cases whose parts were measured."""
    native, workers, trained = native_parts(rows), worker_parts(rows), training_parts(rows)
    return [
        *(_batch(native, n) for n in checked_sizes(sizes_of(rows)) if native),
        *(_shared(workers, cost) for cost in FORECAST_COSTS if workers),
        *([_trained(trained)] if trained else []),
    ]


def checked_sizes(sizes: Sequence[int]) -> list[int]:
    """Return the sizes of the native batches that are forecast: one in the cache, and the largest one out of it."""
    return [IN_THREADS, *(n for n in sizes if n == max(sizes) and n >= OUT_OF_CACHE)]


def _batch(parts: Sequence[NativeParts], n: int) -> Case:
    def seconds(each: NativeParts, threads: int, hopeful: bool) -> float:
        return native_seconds(each, n, threads, hopeful)

    def rate(cores: int) -> Forecast:
        return forecast(parts, lambda each, hopeful: n / seconds(each, cores, hopeful))

    def gain(cores: int) -> Forecast:
        return forecast(parts, lambda each, hopeful: seconds(each, 1, hopeful) / seconds(each, cores, hopeful))

    name = f"native batch, {plural(n, 'environment')}"
    return Case(name, lambda cores: batch(n, cores), batch(n), rate, gain)


def _shared(parts: Sequence[WorkerParts], cost: str) -> Case:
    def speed(each: WorkerParts, cores: int, hopeful: bool) -> float:
        return PER_WORKER * cores / worker_seconds(each, PER_WORKER * cores, cores, cost, hopeful)

    def rate(cores: int) -> Forecast:
        return forecast(parts, lambda each, hopeful: speed(each, cores, hopeful))

    def gain(cores: int) -> Forecast:
        return forecast(parts, lambda each, hopeful: speed(each, cores, hopeful) * each.steps[cost])

    def row(cores: int) -> Labels:
        return shared(PER_WORKER * cores, cores, cost)

    return Case(f"`shared`, steps of {cost}", row, loop(cost), rate, gain, checked_from=1)


def _trained(parts: Sequence[TrainingParts]) -> Case:
    def rate(cores: int) -> Forecast:
        return forecast(parts, lambda each, hopeful: 1 / training_seconds(each, cores, hopeful))

    def gain(cores: int) -> Forecast:
        return forecast(parts, lambda each, hopeful: each.one / training_seconds(each, cores, hopeful))

    return Case("PPO on the native batch", training, training(1), rate, gain, checked_from=PAIR + 1)
