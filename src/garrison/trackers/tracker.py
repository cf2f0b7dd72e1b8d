"""What a tracker is told about a run, and all that it has to be able to do."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class TrackedRun:
    """A run as a tracker is told of it when it starts."""

    name: str
    """What results call it."""
    config: dict[str, Any]
    """Every setting, as nested plain values: what `config.yaml` has."""
    versions: dict[str, Any]
    """What it is made with: versions, machine, command. What `versions.json` has."""
    folder: Path | None
    """Where it is written; None if it is not."""
    first_step: int = 0
    """Where it goes on from; 0 for a new one."""
    known_as: str | None = None
    """What `start` returned when the run began, if it is a resumed one: the tracked run to go on with."""


class Tracker:
    """Takes what a run tells; override what is of interest. By itself it does nothing.

    All calls come from one thread that is the tracker's own, in order, and later than what they tell of: a tracker
    cannot hold a run up. One that raises is off from then on; a sentence says so, and the run goes on.
    """

    def start(self, run: TrackedRun) -> str | None:
        """Begin, or go on with `run.known_as`; return what finds this tracked run again, if anything does."""
        return None

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Take the metrics of one update, or of one evaluation; `step` counts environment steps."""

    def finish(self, summary: Mapping[str, Any], checkpoint: Path | None) -> None:
        """End.

        Args:
            summary: what `summary.json` has: status, speed, and the final score where there is one.
            checkpoint: the last one, if the settings say that trackers get it.
        """


def numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the entries of flat values that are numbers."""
    return {
        name: float(value)
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
