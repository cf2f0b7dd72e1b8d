"""How every published number is measured: pyperf's method, small.

A configuration is a *workload* with its arguments. Each repeat runs it in a fresh process: set up (timed apart), warm
up (thrown away), then work for a while; the child reports steps, wall time, CPU time and memory of its whole tree of
processes. Repeat r of every configuration runs before repeat r+1 of any, so that a slow minute of the machine hits all
of them and ratios stay honest. The result is a median with its spread, and a number whose spread exceeds 10 % is not
a headline: `steady` is false and tables mark it.

A workload is a context manager, named "module:function", that yields a `Work`:

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
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import garrison
from garrison.bench import machine

STEADY = 0.10
"""The widest spread (interquartile range over median) of a number that may stand alone."""


@dataclass(frozen=True)
class Work:
    """What a workload yields: `advance` does some work and returns its steps; `facts` is asked once at the end."""

    advance: Callable[[], int]
    facts: Callable[[], dict[str, float]] = dict


@dataclass(frozen=True)
class Configuration:
    """One thing to measure; `arguments` are plain JSON values and are stored with the result."""

    name: str
    workload: str
    """"module:function" of a context manager that yields `Work`."""
    arguments: dict[str, Any] = field(default_factory=dict)
    python: str = sys.executable
    """Another interpreter, for a peer that cannot be installed beside Garrison."""


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


@dataclass(frozen=True)
class Measurement:
    """All repeats of one configuration; without samples, `error` says why."""

    configuration: Configuration
    samples: tuple[Sample, ...]
    error: str | None = None

    @property
    def rates(self) -> list[float]:
        """Steps per second of each repeat."""
        return [s.steps / s.wall_seconds for s in self.samples]

    @property
    def rate(self) -> float:
        """Median steps per second; 0 if nothing could be measured."""
        return statistics.median(self.rates) if self.samples else 0.0

    @property
    def spread(self) -> float:
        """Interquartile range over the median; with fewer than four repeats, the full range over the median."""
        rates = sorted(self.rates)
        if len(rates) < 2:
            return float("inf")
        if len(rates) < 4:
            return (rates[-1] - rates[0]) / self.rate
        low, _, high = statistics.quantiles(rates, n=4, method="inclusive")
        return (high - low) / self.rate

    @property
    def steady(self) -> bool:
        """Say whether the spread is narrow enough for the median to stand alone."""
        return self.error is None and self.spread <= STEADY

    @property
    def cores_used(self) -> float:
        """CPU seconds per wall second, over the whole tree of processes."""
        return self.median("cpu_seconds") / self.median("wall_seconds") if self.samples else 0.0

    def median(self, name: str) -> float:
        """Return the median of a `Sample` field, or of one of its facts."""
        values = [asdict(s) | s.facts for s in self.samples]
        return statistics.median(v[name] for v in values) if values else 0.0

    def headline(self) -> str:
        """Return the median as text, or the range and a mark when the spread forbids a single number."""
        if self.error:
            return "failed"
        if self.steady:
            return short(self.rate)
        return f"{short(min(self.rates))}-{short(max(self.rates))} (unsteady)"

    def brief(self) -> str:
        """Return the median for a narrow table, with a ~ before it when the spread forbids to quote it."""
        return "failed" if self.error else f"{'' if self.steady else '~'}{short(self.rate)}"

    def record(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {
            "name": self.configuration.name,
            "workload": self.configuration.workload,
            "arguments": self.configuration.arguments,
            "steps_per_second": round(self.rate, 2),
            "spread": round(self.spread, 4) if len(self.samples) > 1 else None,
            "steady": self.steady,
            "cores_used": round(self.cores_used, 3),
            "start_seconds": round(self.median("start_seconds"), 4),
            "peak_mb": round(self.median("peak_mb"), 1),
            "share_mb": round(self.median("share_mb"), 1),
            "error": self.error,
            "samples": [asdict(s) for s in self.samples],
        }


@dataclass(frozen=True)
class Report:
    """The measurements of one run, with the machine and the method that made them."""

    measurements: tuple[Measurement, ...]
    machine: dict[str, Any]
    method: dict[str, Any]

    def __getitem__(self, name: str) -> Measurement:
        return next(m for m in self.measurements if m.configuration.name == name)

    def save(self, path: Path, extra: dict[str, Any] | None = None) -> None:
        """Write the report as JSON, with whatever else this bench measured."""
        path.parent.mkdir(parents=True, exist_ok=True)
        records = [m.record() for m in self.measurements]
        facts = {"machine": self.machine, "method": self.method, **(extra or {}), "results": records}
        path.write_text(json.dumps(facts, indent=1) + "\n")

    def print(self, title: str = "") -> None:
        """Print a table: one row per configuration."""
        from rich.console import Console
        from rich.table import Table

        table = Table(title=title or None, title_justify="left")
        table.add_column("configuration")
        for column in ("steps/s", "spread", "cores", "start s", "peak MB", "processes"):
            table.add_column(column, justify="right")
        for m in self.measurements:
            if m.error:
                table.add_row(m.configuration.name, "failed", m.error.strip().splitlines()[-1][:60], "", "", "", "")
                continue
            numbers = (f"{m.spread:.0%}", f"{m.cores_used:.2f}", f"{m.median('start_seconds'):.2f}")
            memory = (f"{m.median('peak_mb'):.0f}", f"{m.median('processes'):.0f}")
            table.add_row(m.configuration.name, m.headline(), *numbers, *memory)
        console = Console()
        if not console.is_terminal:
            console = Console(width=120)  # a file or a pipe has no width of its own
        console.print(table)


def measure(
    configurations: Sequence[Configuration],
    *,
    repeats: int = 7,
    seconds: float = 1.0,
    warm_up: float = 0.3,
    timeout: float = 120.0,
    quiet: bool = False,
) -> Report:
    """Measure every configuration `repeats` times, interleaved, each time in a fresh process.

    A configuration that fails or outlasts `timeout` is reported with its error and not tried again.
    """
    names = [c.name for c in configurations]
    if len(set(names)) != len(names):
        raise ValueError(f"configurations must have different names; got {sorted(names)}")
    facts = machine.facts()
    samples: dict[str, list[Sample]] = {name: [] for name in names}
    errors: dict[str, str] = {}
    with _Progress(len(configurations) * repeats, quiet) as progress:
        for repeat in range(repeats):
            for configuration in configurations:
                progress.show(f"{configuration.name} ({repeat + 1}/{repeats})")
                if configuration.name not in errors:
                    outcome = run_fresh(configuration, seconds, warm_up, timeout)
                    if isinstance(outcome, Sample):
                        samples[configuration.name].append(outcome)
                    else:
                        errors[configuration.name] = outcome
                progress.advance()
    measurements = (Measurement(c, tuple(samples[c.name]), errors.get(c.name)) for c in configurations)
    method = {
        "repeats": repeats,
        "seconds": seconds,
        "warm_up": warm_up,
        "interleaved": True,
        "fresh_process": True,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": _command(sys.argv[1:]),
    }
    return Report(tuple(measurements), facts, method)


def _command(arguments: list[str]) -> str:
    """Return the command without the place of its results, which means nothing elsewhere."""
    at = arguments.index("--out") if "--out" in arguments else len(arguments)
    return " ".join(["garrison", *arguments[:at], *arguments[at + 2 :]])


def run_fresh(configuration: Configuration, seconds: float, warm_up: float, timeout: float) -> Sample | str:
    """Run one repeat in a fresh process; return its sample, or what went wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        order = {"workload": configuration.workload, "arguments": configuration.arguments}
        (folder / "order").write_text(json.dumps(order | {"seconds": seconds, "warm_up": warm_up}))
        # Files, not pipes: a peer's worker that outlives its parent would hold a pipe open for ever.
        with (folder / "complaint").open("w") as complaint:
            child = subprocess.Popen(
                [configuration.python, "-c", "from garrison.bench.measure import child; child()", name],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaint,
                env=os.environ | {"PYTHONPATH": _python_path()},
                cwd=name,  # one peer leaves a link in the current folder when it is imported
                start_new_session=True,  # so that stray workers can be ended with it
            )
            try:
                child.wait(timeout)
            except subprocess.TimeoutExpired:
                complaint.write(f"no result within {timeout:g} s")
            finally:
                _end_group(child)
        if (folder / "sample").exists():
            return Sample(**json.loads((folder / "sample").read_text()))
        return (folder / "complaint").read_text().strip() or f"the process ended with code {child.returncode}"


def child() -> None:
    """Run the workload described in the folder named by the first argument; the body of the fresh process."""
    folder = Path(sys.argv[1])
    order = json.loads((folder / "order").read_text())
    module, _, function = order["workload"].partition(":")
    begun = time.perf_counter()
    with getattr(import_module(module), function)(**order["arguments"]) as work:
        start_seconds = time.perf_counter() - begun
        _work_for(order["warm_up"], work.advance)
        processes = machine.tree(os.getpid())
        cpu = machine.cpu_seconds(processes)
        steps, wall = _work_for(order["seconds"], work.advance)
        processes = machine.tree(os.getpid())
        peak, share = machine.memory_mb(processes)
        cpu = machine.cpu_seconds(processes) - cpu
        sample = Sample(steps, wall, cpu, start_seconds, peak, share, len(processes), work.facts())
        # Written before the workload closes: a peer that hangs in close() has been measured all the same.
        (folder / "sample").write_text(json.dumps(asdict(sample)))


def short(number: float) -> str:
    """Write a rate with three digits: 1.23 M, 45.6 k, 789."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.3g}"


def _python_path() -> str:
    here = Path(garrison.__file__).parents[1]
    given = [Path(p).absolute() for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    return os.pathsep.join(map(str, dict.fromkeys([here, *given])))


def _work_for(seconds: float, advance: Callable[[], int]) -> tuple[int, float]:
    steps = 0
    begun = now = time.perf_counter()
    while now - begun < seconds:
        steps += advance()
        now = time.perf_counter()
    return steps, now - begun


def _end_group(child: subprocess.Popen[bytes]) -> None:
    # The session's group outlives its leader when workers do; its id cannot be reused while one of them lives.
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


class _Progress:
    """A rich progress bar on a terminal, nothing elsewhere."""

    def __init__(self, total: int, quiet: bool) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
        self._bar = Progress(*columns, transient=True, disable=quiet or not sys.stderr.isatty())
        self._task = self._bar.add_task("", total=total)

    def __enter__(self) -> "_Progress":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, what: str) -> None:
        self._bar.update(self._task, description=what)

    def advance(self) -> None:
        self._bar.advance(self._task)
