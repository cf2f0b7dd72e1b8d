"""What is measured: a row with its workload, what one repeat of it tells, and what its process does.

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

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from statistics import fmean
from typing import Any

from garrison.bench.method.fresh_process import Report
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
    """What one fresh process did in its turns."""

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
    beside: float = 0.0
    """The steps per second of its partner in the same turns; 0.0 without one."""

    @property
    def rate(self) -> float:
        """Steps per second."""
        return self.steps / self.wall_seconds


def merged(samples: Sequence[Sample]) -> Sample:
    """Return one sample of several processes of the same row."""
    wall = sum(sample.wall_seconds for sample in samples)
    return Sample(
        steps=sum(sample.steps for sample in samples),
        wall_seconds=wall,
        cpu_seconds=sum(sample.cpu_seconds for sample in samples),
        start_seconds=fmean(sample.start_seconds for sample in samples),
        peak_mb=max(sample.peak_mb for sample in samples),
        share_mb=max(sample.share_mb for sample in samples),
        processes=max(sample.processes for sample in samples),
        facts={name: fmean(sample.facts[name] for sample in samples) for name in samples[0].facts},
        stolen=sum(sample.stolen * sample.wall_seconds for sample in samples) / wall,
    )


def take_turns(
    _report: Report, workload: str, arguments: dict[str, Any], warm_up: float, orders: int, answers: int
) -> None:
    """Set a workload up and warm it up, then work for as long as each order says; what the fresh process does.

    `orders` and `answers` are the ends of pipes, with a line of JSON for each. When it is ready it tells the seconds of
    its set-up and of its last advance. An order has seconds and the processes that work for it, which are stopped:
    they go on meanwhile. It is answered with the steps done and the time they took; without seconds with the facts.
    It then waits to be ended: a peer may hang when it closes.
    """
    module, _, function = workload.partition(":")
    begun = time.perf_counter()
    with getattr(import_module(module), function)(**arguments) as work, os.fdopen(orders) as lines:
        start_seconds = time.perf_counter() - begun
        advance_seconds = _warm_up(warm_up, work.advance)
        _answer(answers, (start_seconds, advance_seconds))
        for line in lines:
            seconds, workers = json.loads(line)
            send_signal(workers, signal.SIGCONT)
            answer = work.facts() if seconds is None else _work_for(seconds, work.advance)
            send_signal(workers, signal.SIGSTOP)
            _answer(answers, answer)


def send_signal(processes: Iterable[int], number: int) -> None:
    """Send a signal to those of the processes that are still there."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


def _warm_up(seconds: float, advance: Callable[[], int]) -> float:
    """Advance for so many seconds, at least once; return how long the last one took: the first may have compiled."""
    begun = now = time.perf_counter()
    while True:
        advance()
        before, now = now, time.perf_counter()
        if now - begun >= seconds:
            return now - before


def _answer(answers: int, what: Any) -> None:
    os.write(answers, json.dumps(what).encode() + b"\n")


def _work_for(seconds: float, advance: Callable[[], int]) -> tuple[int, float]:
    steps = 0
    begun = now = time.perf_counter()
    while now - begun < seconds:
        steps += advance()
        now = time.perf_counter()
    return steps, now - begun
