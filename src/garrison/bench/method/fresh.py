"""One repeat of one configuration in a process of its own.

A configuration is a *workload* with its arguments: a context manager, named "module:function", that yields a `Work`.

    @contextmanager
    def random_steps(num_envs: int) -> Iterator[Work]:
        envs = ...
        def advance() -> int:
            envs.step(...)
            return num_envs
        yield Work(advance)
        envs.close()
"""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any

from garrison import system
from garrison.bench.method.fresh_process import FreshProcess, Report
from garrison.bench.method.labels import Labels, name_of


@dataclass(frozen=True)
class Work:
    """What a workload yields: `advance` does some work and returns its steps; `facts` is asked once at the end."""

    advance: Callable[[], int]
    facts: Callable[[], dict[str, float]] = dict


@dataclass(frozen=True)
class Configuration:
    """One row to measure; `labels` identify it, `arguments` are plain JSON values; both are stored with the result."""

    labels: Labels
    workload: str
    """"module:function" of a context manager that yields `Work`."""
    arguments: dict[str, Any] = field(default_factory=dict)
    python: str = sys.executable
    """Another interpreter, for a peer that cannot be installed beside Garrison."""
    path: str = ""
    """A folder whose modules the workload can import, for a peer that cannot be installed at all."""
    partner: Labels | None = None
    """The row that it is compared with, by its labels; `partners.pair` finds one among the rows."""
    longer: float = 1.0
    """How many times as long as other rows it warms up and works."""

    @property
    def name(self) -> str:
        """What people call it."""
        return name_of(self.labels)


@dataclass(frozen=True)
class Sample:
    """What one fresh process reports."""

    steps: int
    wall_seconds: float
    cpu_seconds: float
    start_seconds: float
    peak_mb: float
    """Sum of the peak resident memory of the process and its children: pages that they share count more than once."""
    share_mb: float
    """Their proportional share at the end: shared pages count once."""
    processes: int
    facts: dict[str, float]
    stolen: float = 0.0
    """The share of all cores' time that others on the same host took meanwhile, where the system tells."""


def run_fresh(configuration: Configuration, seconds: float, warm_up: float, timeout: float) -> Sample | str:
    """Run one repeat in a fresh process; return its sample, or what went wrong."""
    order: dict[str, Any] = {"workload": configuration.workload, "arguments": configuration.arguments}
    order |= {"seconds": configuration.longer * seconds, "warm_up": configuration.longer * warm_up}
    with FreshProcess(
        "garrison.bench.method.fresh:take_sample", order, configuration.python, configuration.path
    ) as process:
        outcome = process.outcome(timeout)
    return outcome if isinstance(outcome, str) else Sample(**outcome)


def take_sample(report: Report, workload: str, arguments: dict[str, Any], seconds: float, warm_up: float) -> None:
    """Measure a workload here; what the fresh process does."""
    module, _, function = workload.partition(":")
    begun = time.perf_counter()
    with getattr(import_module(module), function)(**arguments) as work:
        start_seconds = time.perf_counter() - begun
        _work_for(warm_up, work.advance)
        processes = system.process_tree(os.getpid())
        cpu, stolen = system.cpu_seconds(processes), system.stolen_seconds()
        steps, wall = _work_for(seconds, work.advance)
        stolen = (system.stolen_seconds() - stolen) / (wall * (os.cpu_count() or 1))
        processes = system.process_tree(os.getpid())
        peak, share = system.memory_mb(processes)
        cpu = system.cpu_seconds(processes) - cpu
        sample = Sample(steps, wall, cpu, start_seconds, peak, share, len(processes), work.facts(), stolen)
        # Reported before the workload closes: a peer that hangs in close() has been measured all the same.
        report(asdict(sample))


def _work_for(seconds: float, advance: Callable[[], int]) -> tuple[int, float]:
    steps = 0
    begun = now = time.perf_counter()
    while now - begun < seconds:
        steps += advance()
        now = time.perf_counter()
    return steps, now - begun
