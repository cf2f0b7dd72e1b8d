"""Notices when a run's threads get in each other's way: they want to run, and others have the cores.

Threads that share one computation wait for the last of them. Where there are more of them than free cores, the system
stops one while the others spin, and a run can become many times slower than with a single thread. How long threads
stand in the queue for a core is the plain sign of it; Linux counts that, and elsewhere nothing is said.
"""

import os
from collections.abc import Callable
from time import monotonic

from garrison.workers.usage import Snapshot, between, snapshot

WINDOW_SECONDS = 15.0
"""Long enough that a short burst of other work says nothing."""
SEVERAL = 1.3
"""From this mean number of threads that want to run, more than one does."""
STARVED = 0.4
"""From this share of their time in the queue, they starve. Two threads with a core each have less than 0.05."""


class StarvationWatch:
    """Asked at every update; says once, after a whole window of it, that the threads starve each other.

    Args:
        read: returns the times of this process's threads.
        now: the clock.
    """

    def __init__(
        self, read: Callable[[], Snapshot] = lambda: snapshot([os.getpid()]), now: Callable[[], float] = monotonic
    ) -> None:
        self._read, self._now = read, now
        self._began: float | None = None
        self._before: Snapshot = {}
        self._is_over = False

    def look(self) -> str:
        """Return the sentence, when it is time for it; else nothing."""
        now = self._now()
        seconds = now - self._began if self._began is not None else 0.0
        if self._is_over or 0.0 < seconds < WINDOW_SECONDS:
            return ""
        before, self._before, self._began = self._before, self._read(), now
        used = list(between(before, self._before, seconds).values())
        running, queued = sum(each.cpu_seconds for each in used), sum(each.queue_seconds for each in used)
        if not before or running + queued < SEVERAL * seconds or queued < STARVED * (running + queued):
            return ""
        self._is_over = True
        return (
            f"the threads of this run wait {queued / (running + queued):.0%} of their time for a core, and then for "
            "each other: --threads 1 may be faster."
        )


def no_watch() -> StarvationWatch:
    """Return a watch that sees no threads, for runs whose threads nobody can choose."""
    return StarvationWatch(read=dict)
