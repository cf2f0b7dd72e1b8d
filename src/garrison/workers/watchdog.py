"""Which workers owe an answer, and which of them have been silent for too long."""

import time
from collections.abc import Callable, Iterable

STARTING_SECONDS = 300.0
"""How long a worker may take until its first message: it imports, makes what it works on and may have to compile."""
LOOKS = 8
"""How often to look within a timeout."""


class Watchdog:
    """Keeps, for each worker of a pool, since when it has owed something without being heard of."""

    def __init__(self, count: int, timeout: float | None, starting_seconds: float = STARTING_SECONDS) -> None:
        self.timeout = timeout
        self.patience = None if timeout is None else max(0.01, timeout / LOOKS)
        """How long one wait may last, in seconds, so that silence is noticed in time; None is no limit."""
        self.starting_seconds = starting_seconds
        self.busy: set[int] = set()
        """Workers that owe an answer."""
        self.starting: set[int] = set()
        """Workers of which nothing has been heard since their start."""
        self._since = [0.0] * count
        self._progress = [0] * count
        self._next_look = 0.0

    def started(self, worker: int) -> None:
        """Begin to wait for the first message of a new worker."""
        self.busy.add(worker)
        self.starting.add(worker)
        self._since[worker] = time.monotonic()

    def expect(self, worker: int) -> None:
        """Wait for an answer from now on, unless one is owed already."""
        if worker not in self.busy:
            self.busy.add(worker)
            self._since[worker] = time.monotonic()

    def heard(self, worker: int) -> None:
        """Note a message."""
        self._since[worker] = time.monotonic()
        self.starting.discard(worker)

    def placed(self, worker: int) -> None:
        """Note that a worker which has waited for room begins to start now."""
        self._since[worker] = time.monotonic()

    def finished(self, worker: int) -> None:
        """Note that a worker owes nothing: its silence means nothing."""
        self.busy.discard(worker)

    def silence(self, worker: int) -> float:
        """Return for how many seconds nothing has been heard."""
        return time.monotonic() - self._since[worker]

    def allowed(self, worker: int) -> float:
        """Return how many seconds of silence are allowed; call it only with a timeout."""
        assert self.timeout is not None
        return self.starting_seconds if worker in self.starting else self.timeout

    def late(self, workers: Iterable[int], progress: Callable[[int], int] | None = None) -> list[int]:
        """Return which of these workers owe an answer and have been silent for longer than allowed.

        `progress` returns a number that changes when a worker gets on without saying so. Looks only every now and then.
        """
        now = time.monotonic()
        if self.timeout is None or now < self._next_look:
            return []
        self._next_look = now + self.timeout / LOOKS
        late = []
        for worker in workers:
            if worker not in self.busy:
                continue
            if progress is not None and worker not in self.starting:
                reached = progress(worker)
                if reached != self._progress[worker]:
                    self._progress[worker], self._since[worker] = reached, now
            if now - self._since[worker] > self.allowed(worker):
                late.append(worker)
        return late
