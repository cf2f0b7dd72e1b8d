"""`sweep`: many runs of one experiment, from Python and behind `garrison sweep`."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import time
from typing import Any

from garrison.errors import UserError
from garrison.report.run_state import RUNNING
from garrison.report.sweep_page import write_sweep_page
from garrison.report.sweep_results import FAILED, FINISHED, SweepResults
from garrison.runs.experiment import Experiment
from garrison.runs.interrupts import Interrupts
from garrison.runs.page_rhythm import FILE as PAGE
from garrison.runs.page_rhythm import PageRhythm
from garrison.storage.atomic import write_text
from garrison.sweeps.choices import make_choices
from garrison.sweeps.collected import collect, write_results
from garrison.sweeps.scheduler import Scheduler
from garrison.sweeps.slots import LocalSlots, Slots, check_jobs, most_cores
from garrison.sweeps.study import Study
from garrison.sweeps.sweep_plan import (
    FILE,
    SweepPlan,
    check_same,
    find_base,
    load_plan,
    make_plan,
    read_config,
    with_study,
)
from garrison.sweeps.sweep_runs import SweepFolder
from garrison.system import require

DEFAULT = Path("sweeps")
NOTICE = "stopping; every run saves its checkpoint. Ctrl-C again ends at once"


@dataclass(frozen=True)
class Swept:
    """How a sweep, or this part of it, ended."""

    folder: Path
    results: SweepResults = field(repr=False)
    state: str
    """finished, interrupted, failed (some runs did), or stopped: there is more to train"""
    failures: dict[str, str]
    """Sentences about runs that failed here, by their names."""
    signal_code: int = 0
    """What a shell expects of a program that was interrupted like this."""

    @property
    def exit_code(self) -> int:
        """What the command should return."""
        return self.signal_code or int(bool(self.failures))


def sweep(
    experiment: Experiment | str,
    out: str | Path | None = None,
    *,
    seeds: int | None = None,
    grid: Mapping[str, Any] | None = None,
    search: str | None = None,
    space: Mapping[str, Any] | None = None,
    trials: int | None = None,
    sampler: str | None = None,
    pruner: str | None = None,
    storage: str | None = None,
    study: str | None = None,
    jobs: int = 0,
    cluster: str = "",
    progress: bool = True,
) -> Swept:
    """Train an experiment with several seeds, over a grid of settings, or over those that Optuna chooses.

    Called again with the same arguments, it goes on with what is not finished. What is not given is as the section
    `sweep` of a file says, or as in `SweepConfig`.

    Args:
        experiment: the name of a preset or of an environment, the path of a YAML file, or settings.
        out: the sweep's folder; by default `sweeps/NAME`.
        seeds: how many seeds every setting is trained with: that of the experiment, and the next ones.
        grid: settings by their names in files, with their options: `{"ppo.learning_rate": [1e-3, 2.5e-3]}`.
        search: `"optuna"` to choose settings from a space instead.
        space: settings with options or ranges: `{"ppo.learning_rate": "log:1e-4..1e-2", "ppo.epochs": [2, 4]}`.
        trials: how many settings a search tries in all.
        sampler: tpe, random, cmaes or gp.
        pruner: median, halving, hyperband or none: stops runs by their scores during training.
        storage: the URL of a database for the study; by default a file in the folder.
        study: what it is called there.
        jobs: how many runs at once; 0 for as many as the cores bear.
        cluster: train on Ray: `local`, `auto` or `host:port`.
        progress: print a line for each run that ends.
    """
    check_jobs(jobs)
    if isinstance(experiment, str):
        name, settings, section = find_base(experiment)
    else:
        name, settings, section = experiment.name, experiment, {}
    given = {
        "seeds": seeds,
        "grid": dict(grid) if grid is not None else None,
        "search": search,
        "space": dict(space) if space is not None else None,
        "trials": trials,
        "sampler": sampler,
        "pruner": pruner,
        "storage": storage,
        "study": study,
    }
    config = read_config(section | {key: value for key, value in given.items() if value is not None})
    plan = make_plan(name, settings, config)
    folder, plan = open_sweep(plan, Path(out) if out is not None else DEFAULT / name)
    say: Callable[[str], None] = partial(print, flush=True) if progress else (lambda text: None)
    return run_sweep(plan, folder, say, jobs=jobs, cluster=cluster)


def open_sweep(plan: SweepPlan, path: Path) -> tuple[SweepFolder, SweepPlan]:
    """Begin a sweep in a folder, or go on with the same one that is there; refuse any other."""
    folder = SweepFolder(path)
    if path.exists() and not folder.plan.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UserError(f"{path} is there, and no sweep.", hint="Choose another folder with --out.")
    path.mkdir(parents=True, exist_ok=True)
    plan = replace(plan, name=path.resolve().name)
    with folder.alone():
        before = load_plan(folder.plan) if folder.plan.exists() else None
        plan = with_study(plan, before)
        if before is not None:
            check_same(before, plan, path)
        write_text(folder.plan, plan.to_text())
    return folder, plan


def reopen_sweep(path: Path) -> tuple[SweepFolder, SweepPlan]:
    """Open a sweep that was begun, with the plan that it has."""
    folder = SweepFolder(path)
    if not folder.plan.is_file():
        raise UserError(f"there is no sweep in {path}: it has no {FILE}.")
    return folder, load_plan(folder.plan)


def run_sweep(
    plan: SweepPlan,
    folder: SweepFolder,
    say: Callable[[str], None],
    *,
    jobs: int = 0,
    cluster: str = "",
    task: int | None = None,
) -> Swept:
    """Train what is not finished of a sweep, and write its table, its page and its best settings.

    Args:
        plan: the sweep.
        folder: where it is.
        say: is told what happens.
        jobs: how many runs at once; 0 for as many as the cores bear.
        cluster: the address of Ray, empty for this machine.
        task: the one run, or the trial, of a job array to look after; its merge step writes the rest.
    """
    require("torch", "yaml")
    study = study_of(plan, folder)
    choices = make_choices(plan, folder, study, task)
    pages = PageRhythm(
        [folder.path] if task is None else [],
        partial(print, file=sys.stderr),
        lambda path, seconds: _write(plan, folder, collect(plan, folder, study), seconds),
    )
    with _slots(plan, folder, jobs, cluster, task) as slots:
        say(f"{plan.describe()}\n{slots.describe()}; folder: {folder.path}")
        with Interrupts(lambda: print(NOTICE, file=sys.stderr, flush=True)) as interrupts:
            scheduler = Scheduler(plan, choices, slots, interrupts, pages, say)
            scheduler.run()
    results = merge(plan, folder, study) if task is None else collect(plan, folder, study)
    state = "interrupted" if interrupts.signal is not None else state_of(results)
    return Swept(folder.path, results, state, scheduler.failures, interrupts.exit_code)


def study_of(plan: SweepPlan, folder: SweepFolder) -> Study | None:
    """Return the study of a search, begun if need be; None for a grid."""
    return Study(plan, folder) if plan.is_search else None


def merge(plan: SweepPlan, folder: SweepFolder, study: Study | None) -> SweepResults:
    """Write table, page and best settings of all that is there; return the results."""
    results = collect(plan, folder, study)
    _write(plan, folder, results, None)
    return results


def state_of(results: SweepResults) -> str:
    """Return how a sweep is that nobody trains."""
    states = [setting.state for setting in results.settings]
    waits = any(state not in (FINISHED, FAILED, "pruned", "diverged") for state in states)
    missing = results.is_search and len(results.runs) < results.total
    if waits or missing or not states:
        return "stopped"
    return FAILED if FAILED in states else FINISHED


def page_of(folder: Path) -> Path:
    """Return the page of a sweep."""
    return folder / PAGE


def _write(plan: SweepPlan, folder: SweepFolder, results: SweepResults, seconds: float | None) -> None:
    write_results(results, plan, folder)
    write_sweep_page(results, RUNNING if seconds is not None else state_of(results), time(), seconds)


@contextmanager
def _slots(plan: SweepPlan, folder: SweepFolder, jobs: int, cluster: str, task: int | None) -> Iterator[Slots]:
    needed = most_cores(plan)
    slots: Slots
    if cluster:
        from garrison.sweeps.ray_slots import RaySlots

        slots = RaySlots(cluster, needed, jobs, folder.plan)
    else:
        runs = plan.runs if task is None else plan.config.seeds if plan.is_search else 1
        slots = LocalSlots(needed, jobs, runs)
    try:
        yield slots
    finally:
        slots.close()
