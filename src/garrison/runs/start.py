"""`train`: one run from Python, as `garrison train` makes it."""

from contextlib import nullcontext
from pathlib import Path

from garrison.runs import session
from garrison.runs.chosen import reason
from garrison.runs.experiment import AUTO, Experiment
from garrison.runs.experiment_file import describe_base, find_experiment
from garrison.runs.folder import RunFolder
from garrison.runs.view import Title, View, make_view


def train(experiment: Experiment | str, out: str | Path | None = None, progress: bool = True) -> session.Outcome:
    """Train as a preset, an environment, a YAML file or an experiment says.

    Args:
        experiment: the name of a preset or of an environment, the path of a YAML file, or settings such as
            `preset("ppo-bline").changed(steps=1_000_000)` or `default_preset("Pendulum-v1", "impala")`.
        out: a folder for the run, with settings, metrics, checkpoints and, where the task has one, the final score;
            without one nothing is written and nothing is scored.
        progress: show how it goes: a panel in a terminal, else a line every ten seconds. Warnings are always shown.

    Ctrl-C lets the update finish and returns what there is.
    """
    name, settings = find_experiment(experiment) if isinstance(experiment, str) else ("", experiment)
    name = name or settings.name
    folder = RunFolder.create(Path(out)) if out is not None else None
    with folder.held(is_new=True) if folder is not None else nullcontext():
        outcome = session.run(settings, name, folder, open_view(name, settings, folder, quiet=not progress))
        session.score(outcome)
    return outcome


def open_view(name: str, experiment: Experiment, folder: RunFolder | None, quiet: bool) -> View:
    """Return what shows a run: its first lines say what it is, which preset it began from, and what differs."""
    if experiment.preset == AUTO and not quiet:
        print(reason(experiment), flush=True)
    details = f"{experiment.describe()}\n{describe_base(experiment)}"
    where = str(folder.path) if folder is not None else ""
    return make_view(Title(name, details, where, experiment.task.known_scores()), quiet)
