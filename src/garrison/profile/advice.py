"""Which backend, how many workers, which batch size: the cost model of vector/timing, anchored in measurements."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from garrison.formatting import plural
from garrison.profile.findings import cpu_share
from garrison.vector.registry import BACKENDS
from garrison.vector.timing.cost_model import Load, Overheads, predict
from garrison.vector.timing.parts import BINS, Distribution

SIMPLER = 1.10
"""How much more the model's word must promise than a measurement, and a backend than one two places simpler."""
ORDER = ("native", *sorted(BACKENDS, key=lambda name: BACKENDS[name].rank))
"""From simple to less so."""
REFERENCES = ("serial", "shared", "joint", "pipes", "async", "threads", "native")
"""Which measurement tells what a step takes, if it is there."""
MOST_WORKERS = 64

Measured = dict[str, Any]
"""What one backend measured, see `garrison.profile.child.measure_backend`."""


@dataclass(frozen=True)
class Advice:
    """What to use, and what to expect of it."""

    backend: str
    workers: int
    batch_size: int | None
    steps_per_second: float
    """Expected."""
    basis: str
    """Whether the expectation was measured, or comes from the model."""

    @property
    def words(self) -> str:
        """It in words."""
        more = f", batch_size {self.batch_size}" if self.batch_size else ""
        if self.backend in ("serial", "native"):
            return self.backend
        return f"{self.backend} with {plural(self.workers, 'worker')}{more}"


def distribution(row: Measured) -> Distribution:
    """Return the distribution of single steps that a backend measured."""
    counts = np.zeros(BINS, np.int64)
    for place, number in row["steps"].items():
        counts[int(place)] = number
    return Distribution(counts)


def load_of(row: Measured) -> Load:
    """Return what one environment's step takes, from a measured backend."""
    spent = sum(row["parts"][part] for part in ("compute", "reset", "extras"))
    return Load(spent * row["workers"] / row["envs"], cpu_share(row), distribution(row))


def overheads_of(rows: dict[str, Measured]) -> Overheads:
    """Return what the measured backends added; the model's defaults for those that were not measured."""
    worker = Overheads.worker
    found: dict[str, float] = {}
    if "serial" in rows:  # what it measured holds the call's part too
        found |= {"around": rows["serial"]["parts"]["copy"] / rows["serial"]["envs"], "call": 0.0}
    if "shared" in rows:
        found["barrier"] = max(0.0, rows["shared"]["parts"]["ipc"] - worker * rows["shared"]["workers"])
    if "joint" in rows:
        found["looks"] = max(0.0, rows["joint"]["parts"]["ipc"] - worker * rows["joint"]["workers"])
    if "async" in rows:
        row = rows["async"]
        batch = row["batch_size"] or row["envs"]
        found["message"] = max(0.0, row["parts"]["ipc"] * batch / row["envs"] - worker * min(row["workers"], batch))
    return Overheads(**found)


def advise(rows: dict[str, Measured], cores: int) -> list[Advice]:
    """Return what to use, best first, from the backends measured and the model's variants of them.

    What is less simple, or not measured, must promise more; see `SIMPLER`.
    """
    reference = next(rows[name] for name in REFERENCES if name in rows)
    num_envs, load, add = reference["envs"], load_of(reference), overheads_of(rows)
    found = [
        Advice(name, row["workers"], row["batch_size"], row["steps_per_second"], "measured")
        for name, row in rows.items()
    ]
    for name in ("shared", "joint", "async"):
        if name not in rows:
            continue
        row = rows[name]
        anchor = predict(name, load, num_envs, row["workers"], cores, row["batch_size"] or 0, add)
        for workers in _worker_counts(load, num_envs, cores):
            for batch_size in _batch_sizes(num_envs) if name == "async" else (None,):
                if (workers, batch_size) == (row["workers"], row["batch_size"]):
                    continue
                seconds = predict(name, load, num_envs, workers, cores, batch_size or 0, add)
                found.append(Advice(name, workers, batch_size, row["steps_per_second"] * anchor / seconds, "model"))
    return sorted(found, key=lambda a: -a.steps_per_second / _handicap(a))


def _handicap(advice: Advice) -> float:
    return float(SIMPLER ** (ORDER.index(advice.backend) / 2 + (advice.basis == "model")))


def _worker_counts(load: Load, num_envs: int, cores: int) -> list[int]:
    """As many workers as cores; more for environments that spend their time waiting for something else."""
    enough = cores if load.cpu > 0.8 else int(cores / max(load.cpu, 1e-3))
    return sorted({min(cores, num_envs), min(enough, num_envs, MOST_WORKERS)})


def _batch_sizes(num_envs: int) -> list[int]:
    return sorted({max(1, num_envs // 4), max(1, num_envs // 2)})
