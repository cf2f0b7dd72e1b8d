"""Trackers of a user's own, named as module:Class: one that notes what it is told, and some that fail."""

from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

from garrison.trackers import TrackedRun, Tracker

NEVER = Event()


class Noting(Tracker):
    """Keeps everything, newest run last."""

    runs: list["Noting"] = []  # noqa: RUF012 - of the class, because a command makes the object

    def __init__(self) -> None:
        self.run = TrackedRun("", {}, {}, None)
        self.rows: list[tuple[int, dict[str, float]]] = []
        self.end: dict[str, Any] = {}
        self.checkpoint: Path | None = None
        self.runs.append(self)

    def start(self, run: TrackedRun) -> str:
        self.run = run
        return run.known_as or "first"

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        self.rows.append((step, dict(metrics)))

    def finish(self, summary: Mapping[str, Any], checkpoint: Path | None) -> None:
        self.end, self.checkpoint = dict(summary), checkpoint


class UnmakeableTracker(Tracker):
    def __init__(self) -> None:
        raise SystemExit("no such project")


class StartFails(Tracker):
    def start(self, run: TrackedRun) -> None:
        raise ConnectionError("no server\nat all")


class LogFails(Tracker):
    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        raise OSError(28, "No space left on device")


class FinishFails(Tracker):
    def finish(self, summary: Mapping[str, Any], checkpoint: Path | None) -> None:
        raise RuntimeError("the server is gone")


class FinishHangs(Tracker):
    def finish(self, summary: Mapping[str, Any], checkpoint: Path | None) -> None:
        NEVER.wait()


class LogHangs(Tracker):
    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        NEVER.wait()
