"""Follows a training: its clock, its newest metrics, what a person is shown, and when it should stop."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from garrison.learn.run import RunLog
from garrison.runs.starvation import StarvationWatch
from garrison.runs.view import View
from garrison.trackers.together import NO_TRACKERS, Trackers


@dataclass(frozen=True)
class Limits:
    """When a run ends and when it is saved."""

    steps: int | None
    """Stop after this many environment steps; None if the time decides."""
    seconds: float | None
    """Stop after this many seconds of training; None if the steps decide."""
    checkpoint_every: float
    """Seconds between checkpoints."""
    evaluate_every: int = 0
    """Steps between evaluations; 0 means none."""


class Follower(RunLog):
    """Keeps nothing but numbers: what follows a run without a folder.

    Args:
        limits: when to stop.
        view: shows each line of metrics, and says what went wrong without stopping the run.
        interrupted: asked at every update.
        resumed: the values of the checkpoint that the run continues from.
        now: the clock.
        starvation: notices threads without cores.
        action_kinds: the names of actions in the metrics.
        trackers: are told every line of metrics.
    """

    saved_step: int | None = None
    """Of the last checkpoint that was written."""

    def __init__(
        self,
        limits: Limits,
        view: View,
        interrupted: Callable[[], bool] = lambda: False,
        resumed: dict[str, Any] | None = None,
        now: Callable[[], float] = monotonic,
        starvation: StarvationWatch | None = None,
        action_kinds: Sequence[str] | None = None,
        trackers: Trackers = NO_TRACKERS,
    ) -> None:
        self.limits, self._trackers = limits, trackers
        self._action_kinds = action_kinds
        self._view, self._interrupted, self._now = view, interrupted, now
        self.seconds_before: float = resumed["seconds"] if resumed else 0.0
        self._began: float | None = None
        self.first: dict[str, float] = {}
        self.last: dict[str, float] = {}
        self.best_return = -float("inf")
        self.first_step: int = resumed["state"]["steps"] if resumed else 0
        self._step = self.first_step
        self._starvation = starvation or StarvationWatch()

    def started(self) -> None:
        """Start the clock: compiling, and starting workers and actors, are no part of the training's time."""
        self._began = self._now() if self._began is None else self._began

    @property
    def seconds(self) -> float:
        """How long the run has trained, earlier parts included."""
        return self.seconds_before + (self._now() - self._began if self._began is not None else 0.0)

    @property
    def action_kinds(self) -> Sequence[str] | None:
        """The names of actions in the metrics."""
        return self._action_kinds

    @property
    def share(self) -> float:
        """The share of the run that is done, 0 to 1."""
        by_time = self.seconds / self.limits.seconds if self.limits.seconds else 0.0
        by_steps = self._step / self.limits.steps if self.limits.steps else 0.0
        return min(1.0, max(by_time, by_steps))

    @property
    def stop(self) -> bool:
        """Whether to end after this update; the time alone never ends a part before its first one."""
        seconds = self.limits.seconds
        return self._interrupted() or (seconds is not None and bool(self.last) and self.seconds >= seconds)

    def log(self, step: int, metrics: dict[str, float]) -> None:
        """Show the metrics of one update."""
        self.track(self.add(step, metrics))
        self.show()

    def add(self, step: int, metrics: dict[str, float]) -> dict[str, float]:
        """Take the metrics of one update; return them with the time and the memory."""
        self.started()  # for a learner that has not said so
        self._step = step
        row: dict[str, float] = {"step": step, "time/elapsed_time": round(self.seconds, 3)}
        row |= metrics
        if memory := peak_memory_gb():
            row["system/peak_memory_gb"] = memory
        if crowded := self._starvation.look():
            self.say(crowded)
        self.first = self.first or row
        self.last = row
        self.best_return = max(self.best_return, row.get("rollout/ep_reward_mean", self.best_return))
        return row

    def track(self, row: dict[str, float]) -> None:
        """Tell the trackers, and say which of them have failed."""
        for sentence in self._trackers.log(row):
            self.say(sentence)

    def finish_trackers(self, summary: dict[str, Any], checkpoint: Path | None = None) -> None:
        """Tell the trackers how the run ended; those that have not begun are not told."""
        for sentence in self._trackers.finish(summary, checkpoint):
            self.say(sentence)

    def show(self) -> None:
        """Show the newest metrics."""
        self._view.show(self.last, self.share)

    def say(self, text: str) -> None:
        """Pass on what went wrong without ending the run."""
        self._view.say(text)

    def close(self) -> None:
        """There is nothing to close."""


def peak_memory_gb() -> float | None:
    """Return the most memory that this process has held, where the system tells."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9, 4)
