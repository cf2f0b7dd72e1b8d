"""Whether a run goes on, how it ended, or that it was killed: from its lock, its summary and its marks."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from garrison.report.history import RunHistory
from garrison.runs.marks import PARTS, RunMark
from garrison.storage.lock import holder

RUNNING, KILLED, UNKNOWN = "running", "killed", "unknown"
BADGES = {"finished": "good", RUNNING: "alive", "interrupted": "plain", UNKNOWN: "plain"}
"""The badge of each state; that of all others is bad."""


class RunState(NamedTuple):
    """How a run is."""

    word: str
    """running, finished, interrupted, diverged, failed, killed, or unknown for a run of an old version"""
    text: str
    """A sentence about it."""

    @property
    def badge(self) -> str:
        """What a badge means that says the word."""
        return BADGES.get(self.word, "bad")


def state_of(run: RunHistory) -> RunState:
    """Return how a run is, as far as its folder tells."""
    if (who := holder(run.path)) is not None:
        return RunState(RUNNING, f"It is being written by {who}.")
    return ending_of(run)


def ending_of(run: RunHistory) -> RunState:
    """Return how a run that nobody writes any more has ended."""
    if is_told(run):
        return RunState(str(run.summary["status"]), str(run.summary.get("message", "")))
    if not run.marks and not run.settings:
        return RunState(UNKNOWN, "Its folder does not tell how it ended.")
    return RunState(
        KILLED, f"It was stopped before it could say how it ended: go on with `garrison train --resume {run.path}`."
    )


def is_told(run: RunHistory) -> bool:
    """Return whether the summary is of the last part of the run, and not of one before it was resumed and killed."""
    return "status" in run.summary and is_newer(run.summary.get("ended"), run.marks)


def is_newer(ended: object, marks: Sequence[RunMark]) -> bool:
    """Return whether something ended after the last part began, as far as both are known."""
    parts = [mark.time for mark in marks if mark.what in PARTS]
    if not parts or not isinstance(ended, str):
        return True
    try:
        return datetime.fromisoformat(ended) >= datetime.fromisoformat(parts[-1])
    except (ValueError, TypeError):
        return True


def begun(run: RunHistory) -> datetime | None:
    """Return when a run was started; None if an older version made it."""
    parts = [mark.time for mark in run.marks if mark.what in PARTS]
    return datetime.fromisoformat(parts[0]) if parts else None


def is_run(path: Path) -> bool:
    """Return whether a folder holds a run, also one of which only some files are left."""
    return any((path / name).is_file() for name in ("config.yaml", "metrics.jsonl", "summary.json"))
