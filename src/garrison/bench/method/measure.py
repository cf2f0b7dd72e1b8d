"""How every published number is measured: pyperf's method, small.

Each repeat of a configuration runs in a fresh process (`fresh`): set up (timed apart), warm up (thrown away), then work
for a while; the child reports steps, wall time, CPU time and memory of its whole tree of processes. Repeat r of every
configuration runs before repeat r+1 of any, so that a slow minute of the machine hits all of them and ratios stay
honest. The result is a median with its spread, and a number whose spread exceeds 10 % is not a headline: `steady` is
false and tables mark it.
"""

import shlex
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from garrison import system
from garrison.bench.method.fresh import Configuration, Sample, run_fresh
from garrison.bench.method.labels import Labels
from garrison.bench.method.terminal import print_table
from garrison.formatting import short

STEADY = 0.10
"""The widest spread (interquartile range over median) of a number that may stand alone."""


@dataclass(frozen=True)
class Measurement:
    """All repeats of one configuration; without samples, `error` says why."""

    configuration: Configuration
    samples: tuple[Sample, ...]
    error: str | None = None

    @property
    def labels(self) -> Labels:
        """What identifies the row."""
        return self.configuration.labels

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
        if len(rates) < 2 or not self.rate:  # nothing may be finished in a time that is too short
            return float("inf")
        if len(rates) < 4:
            return (rates[-1] - rates[0]) / self.rate
        low, _, high = statistics.quantiles(rates, n=4, method="inclusive")
        return (high - low) / self.rate

    @property
    def steady(self) -> bool:
        """Whether the spread is narrow enough for the median to stand alone."""
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
        """Return the median as text, or the range and a mark when the spread is too wide for a single number."""
        if self.error:
            return "failed"
        if self.steady:
            return short(self.rate)
        if len(self.samples) == 1:
            return f"{short(self.rate)} (one repeat)"
        return f"{short(min(self.rates))}-{short(max(self.rates))} (unsteady)"

    def brief(self) -> str:
        """Return the median for a narrow table, with a ~ before it when the spread is too wide to quote it."""
        return "failed" if self.error else f"{'' if self.steady else '~'}{short(self.rate)}"

    def record(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {
            "labels": self.labels,
            "workload": self.configuration.workload,
            "arguments": self.configuration.arguments,
            "steps_per_second": round(self.rate, 2),
            "spread": round(self.spread, 4) if self.spread < float("inf") else None,
            "steady": self.steady,
            "cores_used": round(self.cores_used, 3),
            "start_seconds": round(self.median("start_seconds"), 4),
            "peak_mb": round(self.median("peak_mb"), 1),
            "share_mb": round(self.median("share_mb"), 1),
            "error": self.error,
            "samples": [asdict(s) for s in self.samples],
        }


@dataclass(frozen=True)
class BenchResult:
    """The measurements of one run, with the machine and the method that made them."""

    measurements: tuple[Measurement, ...]
    machine: dict[str, Any]
    method: dict[str, Any]

    def find(self, **labels: Any) -> Measurement | None:
        """Return the row with exactly these labels; its rate is 0 if it failed."""
        return next((m for m in self.measurements if m.labels == labels), None)

    def record(self, **more: Any) -> dict[str, Any]:
        """Return everything as plain values for JSON, with whatever else the suite measured."""
        rows = [m.record() for m in self.measurements]
        return {"machine": self.machine, "method": self.method, **more, "results": rows}

    def print(self, title: str) -> None:
        """Print a table: one row per configuration."""
        print_table(
            title,
            ("configuration", "steps/s", "spread", "cores", "start s", "peak MB", "processes"),
            [_printed(m) for m in self.measurements],
        )


def _printed(m: Measurement) -> tuple[str, ...]:
    if m.error:
        return (m.configuration.name, "failed", m.error.strip().splitlines()[-1][:60], "", "", "", "")
    return (
        m.configuration.name,
        m.headline(),
        f"{m.spread:.0%}" if len(m.samples) > 1 else "",
        f"{m.cores_used:.2f}",
        f"{m.median('start_seconds'):.2f}",
        f"{m.median('peak_mb'):.0f}",
        f"{m.median('processes'):.0f}",
    )


def measure(
    configurations: Sequence[Configuration],
    *,
    repeats: int = 7,
    seconds: float = 1.0,
    warm_up: float = 0.3,
    timeout: float = 120.0,
    quiet: bool = False,
) -> BenchResult:
    """Measure every configuration `repeats` times, interleaved, each time in a fresh process.

    A configuration that fails or outlasts `timeout` is reported with its error and not tried again.
    """
    if any(one.labels == other.labels for k, one in enumerate(configurations) for other in configurations[:k]):
        raise ValueError(f"rows must have different labels; got {sorted(c.name for c in configurations)}")
    facts = system.facts()
    samples: list[list[Sample]] = [[] for _ in configurations]
    errors: list[str | None] = [None for _ in configurations]
    with _Progress(len(configurations) * repeats, quiet) as progress:
        for repeat in range(repeats):
            for k, configuration in enumerate(configurations):
                progress.show(f"{configuration.name} ({repeat + 1}/{repeats})")
                if errors[k] is None:
                    outcome = run_fresh(configuration, seconds, warm_up, timeout)
                    if isinstance(outcome, Sample):
                        samples[k].append(outcome)
                    else:
                        errors[k] = outcome
                progress.advance()
    rows = zip(configurations, samples, errors, strict=True)
    method = {
        "repeats": repeats,
        "seconds": seconds,
        "warm_up": warm_up,
        "interleaved": True,
        "fresh_process": True,
        **provenance(),
    }
    return BenchResult(tuple(Measurement(c, tuple(some), error) for c, some, error in rows), facts, method)


def provenance() -> dict[str, str]:
    """Return when and by which command a result is made."""
    return {"date": datetime.now(UTC).isoformat(timespec="seconds"), "command": command_line()}


def command_line() -> str:
    """Return the command that runs, without the place of its results, which means nothing elsewhere."""
    words = sys.argv[1:]
    kept = [word for k, word in enumerate(words) if "--out" not in (word, *words[max(0, k - 1) : k])]
    kept = [_anywhere(flag) or word for flag, word in zip(["", *kept], kept, strict=False)]
    return shlex.join(["garrison", *(word for word in kept if not word.startswith("--out="))])


def _anywhere(flag: str) -> str:
    """Return what stands for the value of a flag that names a place on this machine."""
    return "PYTHON" if flag.endswith("-python") else "CLONE" if flag.endswith("-code") else ""


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


def doubling(most: int) -> list[int]:
    """Return 1, 2, 4, ... below `most`, and `most`."""
    return [*(2**k for k in range(most.bit_length()) if 2**k < most), most]
