"""What the processor did: time, waiting for a core and forced switches of every thread of some processes.

From /proc, so on Linux only; elsewhere nothing is known, and nothing is claimed.
"""

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

BUSY = 0.05
"""The share of the time that a thread must run, or be ready to and wait for a core, to be called busy."""

Thread = tuple[float, float, int]
"""Seconds on a core, seconds waiting for one, and how often it was forced off."""
Snapshot = dict[int, dict[int, Thread]]


@dataclass(frozen=True)
class Usage:
    """One process between two snapshots."""

    threads: int
    busy_threads: int
    cpu_seconds: float
    queue_seconds: float
    """Time that threads were ready to run and had no core."""
    forced_switches: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {key: round(value, 6) for key, value in asdict(self).items()}


def snapshot(processes: Iterable[int]) -> Snapshot:
    """Read the counters of every thread of the processes."""
    found: Snapshot = {}
    for process in processes:
        threads: dict[int, Thread] = {}
        for folder in Path(f"/proc/{process}/task").glob("[0-9]*"):
            if (thread := _read(folder)) is not None:
                threads[int(folder.name)] = thread
        found[process] = threads
    return found


def between(before: Snapshot, after: Snapshot, seconds: float) -> dict[int, Usage]:
    """Return what each process used between two snapshots that are `seconds` apart."""
    used = {}
    for process, threads in after.items():
        nothing = (0.0, 0.0, 0)
        earlier = before.get(process, {})
        spent = [tuple(b - a for a, b in zip(earlier.get(t, nothing), now, strict=True)) for t, now in threads.items()]
        used[process] = Usage(
            threads=len(threads),
            busy_threads=sum(cpu + queue > BUSY * seconds for cpu, queue, _ in spent),
            cpu_seconds=sum(cpu for cpu, _, _ in spent),
            queue_seconds=sum(queue for _, queue, _ in spent),
            forced_switches=int(sum(switches for _, _, switches in spent)),
        )
    return used


def _read(folder: Path) -> Thread | None:
    try:
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        cpu, queue = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK"), 0.0
        status = (folder / "status").read_text()
    except OSError:
        return None
    forced = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("nonvoluntary")), 0)
    try:  # in nanoseconds, where the kernel keeps it
        running, waiting, _ = (folder / "schedstat").read_text().split()
        if int(running):
            cpu, queue = 1e-9 * int(running), 1e-9 * int(waiting)
    except (OSError, ValueError):
        pass
    return cpu, queue, forced
