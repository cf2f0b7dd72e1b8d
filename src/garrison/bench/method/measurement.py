"""What was measured: the rounds of a row, and all rows of a run with their ratios."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from garrison.bench.method.estimate import Estimate, estimate
from garrison.bench.method.fresh import Configuration, Sample
from garrison.bench.method.labels import Labels, name_of
from garrison.bench.method.paired import RoundRates, compare
from garrison.bench.method.terminal import print_table
from garrison.bench.method.why_wide import TITLE, why_wide


@dataclass(frozen=True)
class Measurement:
    """One configuration, a sample for every round; with an `error` it could not be measured to the end."""

    configuration: Configuration
    samples: tuple[Sample, ...]
    error: str | None = None

    @property
    def labels(self) -> Labels:
        """What identifies the row."""
        return self.configuration.labels

    @property
    def rates(self) -> list[float]:
        """Steps per second of each round."""
        return [sample.rate for sample in self.samples]

    @property
    def estimate(self) -> Estimate | None:
        """Steps per second, with their interval; None if nothing could be measured."""
        return estimate(self.rates) if self.samples else None

    @property
    def rate(self) -> float:
        """Steps per second; 0 if nothing could be measured."""
        return self.estimate.value if self.estimate else 0.0

    @property
    def cores_used(self) -> float:
        """CPU seconds per wall second, over the whole tree of processes."""
        return self.median("cpu_seconds") / self.median("wall_seconds") if self.samples else 0.0

    def median(self, name: str) -> float:
        """Return the median of a `Sample` field, or of one of its facts."""
        values = [asdict(s) | s.facts for s in self.samples]
        return statistics.median(v[name] for v in values) if values else 0.0

    def over(self, base: "Measurement | None") -> Estimate | None:
        """Return how many times `base` this is, from the rounds that both have."""
        if base is None or self.error or base.error:
            return None
        return compare(self._round_rates, base._round_rates)

    @property
    def _round_rates(self) -> RoundRates:
        beside = [sample.beside for sample in self.samples]
        return RoundRates(self.labels, self.configuration.partner, self.rates, beside)

    def headline(self) -> str:
        """Return the rate as text, with its interval."""
        found = self.estimate
        return "failed" if self.error or not found else found.text() + found.caveat


def partner_of(rows: Sequence[Measurement], row: Measurement) -> Measurement | None:
    """Return the row that this one is compared with."""
    return next((other for other in rows if other.labels == row.configuration.partner), None)


def is_settled(rows: Sequence[Measurement], row: Measurement) -> bool:
    """Return whether more rounds would say nothing more: the ratio to the partner is narrow, or there can be none.

    A row that others are compared with is settled when they are; one that stands alone has to have a narrow rate.
    """
    if row.error:
        return True
    if not row.estimate or not row.estimate.is_interval:
        return False
    if ratio := row.over(partner_of(rows, row)):
        return ratio.is_narrow
    if any(other.configuration.partner == row.labels and not other.error for other in rows):
        return True
    return row.estimate.is_narrow


@dataclass(frozen=True)
class BenchResult:
    """The measurements of one run, with the machine and the method that made them."""

    measurements: tuple[Measurement, ...]
    machine: dict[str, Any]
    method: dict[str, Any]

    def find(self, **labels: Any) -> Measurement | None:
        """Return the row with exactly these labels; its rate is 0 if it failed."""
        return next((m for m in self.measurements if m.labels == labels), None)

    def ratio(self, row: Measurement) -> Estimate | None:
        """Return how many times its partner a row is; None if it has none."""
        return row.over(partner_of(self.measurements, row))

    def is_steady(self, row: Measurement) -> bool:
        """Return whether a row was measured until it could be quoted."""
        return row.error is None and is_settled(self.measurements, row)

    def record(self, **more: Any) -> dict[str, Any]:
        """Return everything as plain values for JSON, with whatever else the suite measured."""
        rows = [self._row_record(m) for m in self.measurements]
        return {"machine": self.machine, "method": self.method, **more, "results": rows}

    def _row_record(self, m: Measurement) -> dict[str, Any]:
        ratio = self.ratio(m)
        return {
            "labels": m.labels,
            "workload": m.configuration.workload,
            "arguments": m.configuration.arguments,
            "steps_per_second": round(m.rate, 2),
            "interval": _ends(m.estimate),
            "partner": m.configuration.partner,
            "ratio": None if ratio is None else float(f"{ratio.value:.6g}"),
            "ratio_interval": _ends(ratio),
            "rounds": len(m.samples),
            "steady": self.is_steady(m),
            "cores_used": round(m.cores_used, 3),
            "start_seconds": round(m.median("start_seconds"), 4),
            "peak_mb": round(m.median("peak_mb"), 1),
            "share_mb": round(m.median("share_mb"), 1),
            "error": m.error,
            "samples": [asdict(s) for s in m.samples],
        }

    def print(self, title: str) -> None:
        """Print a table with one row per configuration, and those that stayed wide in a table of their own."""
        header = ("configuration", "steps/s", "ratio", "to", "rounds", "cores", "start s", "peak MB")
        steady = [m for m in self.measurements if self.is_steady(m)]
        if steady:
            print_table(title, header, map(self._printed, steady), text=("to",))
        if wide := [m for m in self.measurements if not m.error and not self.is_steady(m)]:
            print_table(f"{title} ({TITLE})", header, map(self._printed, wide), text=("to",))
            for reason in dict.fromkeys(why_wide(self.method, len(m.samples)) for m in wide):
                print(f"{TITLE}: {reason}")
        for m in self.measurements:
            if m.error:
                print(f"{m.configuration.name} failed: {m.error.strip().splitlines()[-1]}")

    def _printed(self, m: Measurement) -> tuple[str, ...]:
        ratio = self.ratio(m)
        return (
            m.configuration.name,
            m.estimate.text() if m.estimate else "",
            ratio.times() if ratio else "",
            name_of(m.configuration.partner or {}) if ratio else "",
            str(len(m.samples)),
            f"{m.cores_used:.2f}",
            f"{m.median('start_seconds'):.2f}",
            f"{m.median('peak_mb'):.0f}",
        )


def _ends(found: Estimate | None) -> list[float] | None:
    """Return the ends of a 95 % interval, or None where there is none."""
    return [float(f"{end:.6g}") for end in (found.low, found.high)] if found and found.is_interval else None
