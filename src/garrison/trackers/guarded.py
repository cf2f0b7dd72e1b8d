"""A tracker that cannot harm a run: it works in a thread of its own, and is off once it fails, hangs or lags behind."""

from collections.abc import Callable, Mapping
from pathlib import Path
from queue import Full, Queue
from threading import Event, Thread
from typing import Any

from garrison.errors import GarrisonError
from garrison.trackers.tracker import TrackedRun, Tracker

WAITING = 10_000
"""Calls that may wait: a tracker that is further behind hangs."""
FINISH_SECONDS = 60.0
"""How long the end of a run waits for a tracker."""
LONGEST = 300  # characters of a failure's text

Call = Callable[[Tracker], object]


class GuardedTracker:
    """Passes calls on to a tracker.

    Args:
        name: what sentences call it.
        make: makes it, in its own thread, because that may import a large library.
        run: what it is told first.
        keep: is given what `Tracker.start` returned.
        finish_seconds: how long `finish` waits.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[], Tracker],
        run: TrackedRun,
        keep: Callable[[str], None] = lambda known_as: None,
        finish_seconds: float = FINISH_SECONDS,
    ) -> None:
        self.name = name
        self._make, self._run, self._keep, self._finish_seconds = make, run, keep, finish_seconds
        self._calls: Queue[Call | None] = Queue(WAITING)
        self._is_over = Event()
        self._is_off = False
        self._unsaid = ""
        # A daemon, so that one that hangs does not hold the interpreter at its end.
        Thread(target=self._work, name=f"tracker {name}", daemon=True).start()

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Pass metrics on, some time later."""
        self._tell(lambda tracker: tracker.log(step, metrics))

    def finish(self, summary: Mapping[str, Any], checkpoint: Path | None) -> None:
        """Pass the end on, and wait until the tracker is done or its time is up."""
        self._tell(lambda tracker: tracker.finish(summary, checkpoint))
        self._tell(None)
        if not self._is_off and not self._is_over.wait(self._finish_seconds):
            self._switch_off(f"did not finish in {self._finish_seconds:g} s")

    def take_warning(self) -> str:
        """Return why the tracker is off, once; "" if there is nothing new."""
        said, self._unsaid = self._unsaid, ""
        return said

    def _tell(self, call: Call | None) -> None:
        if self._is_off:
            return
        try:
            self._calls.put_nowait(call)
        except Full:
            self._switch_off(f"is {WAITING:,} calls behind")

    def _work(self) -> None:
        try:
            tracker = self._make()
            if (known_as := tracker.start(self._run)) is not None:
                self._keep(known_as)
            while not self._is_off and (call := self._calls.get()) is not None:
                call(tracker)
        except BaseException as error:  # whatever it is, SystemExit too: no tracker is worth a run
            self._switch_off(f"failed ({_text(error)})")
        self._is_over.set()

    def _switch_off(self, why: str) -> None:
        if not self._is_off:
            self._unsaid = f"the tracker {self.name} {why}: it is off, and the run goes on."
        self._is_off = True


def _text(error: BaseException) -> str:
    """Return a failure on one line."""
    what = str(error) if isinstance(error, GarrisonError) else f"{type(error).__name__}: {error}"
    return " ".join(what.split())[:LONGEST].rstrip(".")
