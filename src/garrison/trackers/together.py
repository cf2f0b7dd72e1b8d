"""All trackers of a run: made, told, and remembered in its folder, so that a resumed run goes on with the same ones."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from garrison.contract.importing import made_by_name
from garrison.errors import UserError, choose
from garrison.storage.atomic import write_json
from garrison.system import require
from garrison.trackers.guarded import GuardedTracker
from garrison.trackers.tracker import TrackedRun, Tracker

FILE = "trackers.json"
"""What finds the tracked runs again, by the trackers' names."""
TENSORBOARD = "tensorboard"
LIBRARIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "wandb": ("garrison.trackers.wandb_tracker:WandbTracker", ("wandb",)),
    "mlflow": ("garrison.trackers.mlflow_tracker:MlflowTracker", ("mlflow",)),
}
"""Trackers by name: their class, and the optional modules that they need."""
_TENSORBOARD_CLASS = "garrison.trackers.tensorboard_tracker:TensorBoardTracker"

Make = Callable[[], Tracker]


def check_names(names: Sequence[str]) -> None:
    """Raise a UserError unless these can be names of trackers: of `LIBRARIES`, or `module:name`."""
    for name in names:
        if name == TENSORBOARD:
            raise UserError("TensorBoard events are written anyway; --no-tensorboard leaves them out.")
        if ":" not in name:
            choose("tracker", name, tuple(LIBRARIES))
    if len(set(names)) < len(names):
        raise UserError(f"each tracker can be named once; got {', '.join(names)}.")


def find_trackers(names: Sequence[str], objects: Sequence[Tracker] = (), tensorboard: bool = False) -> dict[str, Make]:
    """Return how to make each tracker, by its name; refuse what is not there before anything is trained."""
    found: dict[str, Make] = {TENSORBOARD: made_by_name(_TENSORBOARD_CLASS)} if tensorboard else {}
    for name in names:
        reference, needed = LIBRARIES.get(name, (name, ()))
        require(*needed)
        found[name] = made_by_name(reference)
    for tracker in objects:
        name = f"{type(tracker).__module__}:{type(tracker).__qualname__}"
        same = sum(each.partition("#")[0] == name for each in found)
        found[f"{name}#{same + 1}" if same else name] = partial(_itself, tracker)
    return found


class Trackers:
    """The trackers of one run; they start with the first metrics, so a run that is refused leaves nothing anywhere.

    Args:
        makers: how to make each, by name, see `find_trackers`.
        run: what they are told of the run.
    """

    def __init__(self, makers: Mapping[str, Make], run: TrackedRun) -> None:
        self._makers, self._run = makers, run
        self._known = _read(run.folder) if run.folder is not None and run.first_step else {}
        self._lock = Lock()
        self._at_work: list[GuardedTracker] | None = None

    def log(self, row: Mapping[str, float]) -> list[str]:
        """Tell all trackers a row of metrics; return sentences about those that have failed since."""
        metrics = {name: value for name, value in row.items() if name != "step"}
        for tracker in self._started():
            tracker.log(int(row["step"]), metrics)
        return self._warnings()

    def finish(self, summary: Mapping[str, Any], checkpoint: Path | None = None) -> list[str]:
        """End all trackers that have started; return sentences about those that failed."""
        trackers, self._makers = self._at_work or [], {}
        for tracker in trackers:
            tracker.finish(summary, checkpoint if checkpoint is not None and checkpoint.exists() else None)
        warnings = self._warnings()
        self._at_work = []
        return warnings

    def _started(self) -> list[GuardedTracker]:
        if self._at_work is None:
            self._at_work = [
                GuardedTracker(name, make, self._told(name), partial(self._keep, name))
                for name, make in self._makers.items()
            ]
        return self._at_work

    def _told(self, name: str) -> TrackedRun:
        run = self._run
        return TrackedRun(run.name, run.config, run.versions, run.folder, run.first_step, self._known.get(name))

    def _warnings(self) -> list[str]:
        return [said for tracker in self._at_work or () if (said := tracker.take_warning())]

    def _keep(self, name: str, known_as: str) -> None:
        with self._lock, suppress(OSError):  # on a full disk a resumed run is tracked as a new one
            self._known[name] = known_as
            if self._run.folder is not None:
                write_json(self._run.folder / FILE, self._known)


NO_TRACKERS = Trackers({}, TrackedRun("", {}, {}, None))


def _itself(tracker: Tracker) -> Tracker:
    return tracker


def _read(folder: Path) -> dict[str, str]:
    """Return what an earlier part of the run kept; nothing if it kept nothing, or that is damaged."""
    try:
        values = json.loads((folder / FILE).read_text())
    except (OSError, ValueError, RecursionError):
        return {}
    known = values if isinstance(values, dict) else {}
    return {name: value for name, value in known.items() if isinstance(value, str)}
