"""Which trackers a run has, and what they are told of it."""

from collections.abc import Sequence
from typing import Any

from garrison.runs.experiment import Experiment
from garrison.runs.folder import RunFolder, versions
from garrison.trackers.together import Trackers, find_trackers
from garrison.trackers.tracker import TrackedRun, Tracker


def trackers_of(
    experiment: Experiment,
    name: str,
    folder: RunFolder | None,
    values: dict[str, Any] | None,
    objects: Sequence[Tracker],
) -> Trackers:
    """Return the trackers that the settings name, and `objects`; TensorBoard's events are written to the folder.

    `values` are those of the checkpoint that the run continues from.
    """
    has_events = experiment.run.tensorboard and folder is not None
    return _open(find_trackers(experiment.run.trackers, objects, has_events), experiment, name, folder, values)


def events_of(experiment: Experiment, name: str, folder: RunFolder, values: dict[str, Any] | None) -> Trackers:
    """Return what writes TensorBoard's events for one of several agents; other trackers get the means over all."""
    return _open(find_trackers((), (), experiment.run.tensorboard), experiment, name, folder, values)


def _open(
    makers: Any, experiment: Experiment, name: str, folder: RunFolder | None, values: dict[str, Any] | None
) -> Trackers:
    first_step = 0 if values is None else values["state"]["steps"]
    place = None if folder is None else folder.path
    return Trackers(makers, TrackedRun(name, experiment.to_dict(), versions(), place, first_step))
