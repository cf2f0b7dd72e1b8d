"""What the processor did: the time of every thread of some processes, and how long it waited for a core.

psutil knows the time, in ticks of 10 ms. The wait is only in the scheduler's statistics, which psutil does not read and
only Linux has (`/proc/PID/task/TID/schedstat`, in nanoseconds); elsewhere it is taken as none.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

BUSY = 0.05
"""The share of the time that a thread must run, or be ready to and wait for a core, to be called busy."""

ThreadTimes = tuple[float, float]
"""Seconds on a core, and seconds waiting for one."""
Snapshot = dict[int, dict[int, ThreadTimes]]
"""By process and thread."""


@dataclass(frozen=True)
class Usage:
    """One process between two snapshots."""

    threads: int
    busy_threads: int
    cpu_seconds: float
    queue_seconds: float
    """Time that threads were ready to run and had no core."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {key: round(value, 6) for key, value in asdict(self).items()}


def snapshot(processes: Iterable[int]) -> Snapshot:
    """Read the counters of every thread of the processes."""
    found: Snapshot = {}
    for process in processes:
        try:
            threads = psutil.Process(process).threads()
        except psutil.Error:  # it has ended, or is somebody else's
            threads = []
        found[process] = {
            each.id: _from_scheduler(process, each.id) or (each.user_time + each.system_time, 0.0) for each in threads
        }
    return found


def between(before: Snapshot, after: Snapshot, seconds: float) -> dict[int, Usage]:
    """Return what each process used between two snapshots that are `seconds` apart."""
    used = {}
    for process, threads in after.items():
        earlier = before.get(process, {})
        spent = [
            (cpu - earlier.get(thread, (0.0, 0.0))[0], queue - earlier.get(thread, (0.0, 0.0))[1])
            for thread, (cpu, queue) in threads.items()
        ]
        used[process] = Usage(
            threads=len(threads),
            busy_threads=sum(cpu + queue > BUSY * seconds for cpu, queue in spent),
            cpu_seconds=sum(cpu for cpu, _ in spent),
            queue_seconds=sum(queue for _, queue in spent),
        )
    return used


def _from_scheduler(process: int, thread: int) -> ThreadTimes | None:
    try:
        running, waiting, _ = Path(f"/proc/{process}/task/{thread}/schedstat").read_text().split()
    except (OSError, ValueError):  # another system, a kernel that does not keep it, or a thread that has ended
        return None
    return (1e-9 * int(running), 1e-9 * int(waiting)) if int(running) else None
