"""`train` and `continue_run`: one run from Python, as `garrison train` makes it."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from garrison.runs import session
from garrison.runs.callbacks import Callback
from garrison.runs.chosen import reason
from garrison.runs.experiment import AUTO, Experiment
from garrison.runs.experiment_file import describe_base, find_experiment, load_config
from garrison.runs.folder import RunFolder
from garrison.runs.resume import open_folder
from garrison.runs.view import Title, View, make_view
from garrison.trackers.tracker import Tracker


def train(
    experiment: Experiment | str,
    out: str | Path | None = None,
    progress: bool = True,
    trackers: Sequence[Tracker] = (),
    callbacks: Sequence[Callback] = (),
) -> session.Outcome:
    """Train as a preset, an environment, a YAML file or an experiment says.

    Args:
        experiment: the name of a preset or of an environment, the path of a YAML file, or settings such as
            `preset("ppo-bline").changed(steps=1_000_000)` or `default_preset("Pendulum-v1", "impala")`.
        out: a folder for the run, with settings, metrics, checkpoints and, where the task has one, the final score;
            without one nothing is written and nothing is scored.
        progress: show how it goes: a panel in a terminal, else a line every ten seconds. Warnings are always shown.
        trackers: are told of the run besides those that its settings name, see docs/tracking.md.
        callbacks: take part in it besides those that its settings name, see docs/callbacks.md.

    Ctrl-C lets the update finish and returns what there is.
    """
    name, settings = find_experiment(experiment) if isinstance(experiment, str) else ("", experiment)
    name = name or settings.name
    folder = RunFolder.create(Path(out)) if out is not None else None
    with folder.held(is_new=True) if folder is not None else nullcontext():
        view = open_view(name, settings, folder, quiet=not progress)
        outcome = session.run(settings, name, folder, view, trackers=trackers, callbacks=callbacks)
        session.score(outcome)
    return outcome


def continue_run(
    folder: str | Path,
    progress: bool = True,
    trackers: Sequence[Tracker] = (),
    callbacks: Sequence[Callback] = (),
    **settings: Any,
) -> session.Outcome:
    """Continue the run in a folder, as `garrison train --resume` does.

    Args:
        folder: the run's.
        progress: as `train` has it.
        trackers: likewise.
        callbacks: likewise; they go on from what the checkpoint kept of them.
        settings: those to change, such as `steps=20_000_000`.
    """
    path = Path(folder)
    experiment = load_config(RunFolder.open(path).config).changed(**settings)
    with open_folder("", "", str(path)) as (opened, values):
        view = open_view(path.name, experiment, opened, quiet=not progress)
        outcome = session.run(
            experiment, path.name, opened, view, values=values, trackers=trackers, callbacks=callbacks
        )
        session.score(outcome)
    return outcome


def open_view(name: str, experiment: Experiment, folder: RunFolder | None, quiet: bool) -> View:
    """Return what shows a run: its first lines say what it is, which preset it began from, and what differs."""
    if experiment.preset == AUTO and not quiet:
        print(reason(experiment), flush=True)
    details = f"{experiment.describe()}\n{describe_base(experiment)}"
    where = str(folder.path) if folder is not None else ""
    return make_view(Title(name, details, where, experiment.task.known_scores()), quiet)
