"""`garrison sweep`: many runs of one experiment: seeds, a grid of settings, or a search by Optuna."""

import json
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import tyro

from garrison.commands import train
from garrison.commands.flags import own_flags, value_of
from garrison.errors import UserError
from garrison.runs.experiment_file import is_settings_file
from garrison.runs.presets import PRESETS
from garrison.sweeps.collected import facts, to_text
from garrison.sweeps.slots import check_jobs, most_cores
from garrison.sweeps.slurm import how_to_submit, write_scripts
from garrison.sweeps.sweep_plan import FILE, SweepConfig, SweepPlan, find_base, make_plan, read_config
from garrison.sweeps.sweep_runs import SweepFolder
from garrison.sweeps.sweeping import DEFAULT, Swept, merge, open_sweep, page_of, reopen_sweep, run_sweep, study_of
from garrison.sweeps.varied import written_pairs
from garrison.system import require


@dataclass(frozen=True)
class Arguments:
    """Train an experiment with several seeds, over a grid of settings, or over those that Optuna chooses.

    garrison sweep ppo-cartpole --seeds 10

    garrison sweep ppo-cartpole --grid ppo.learning_rate=1e-3,2.5e-3 ppo.epochs=4,10 --seeds 3

    garrison sweep ppo-cartpole --search optuna --trials 50 --space ppo.learning_rate=log:1e-4..1e-2 ppo.epochs=4,10

    The same command goes on with a sweep that was stopped; so does garrison sweep FOLDER. All flags of garrison train
    work too, and hold for every run.
    """

    seeds: int = SweepConfig.seeds
    """Seeds that every setting is trained with: that of the experiment and the next ones."""
    grid: tuple[str, ...] = ()
    """Settings with their options, all combinations of which are trained: ppo.learning_rate=1e-3,2.5e-3."""
    search: str = SweepConfig.search
    """What chooses settings, instead of a grid: optuna."""
    space: tuple[str, ...] = ()
    """Settings among which it chooses: ppo.learning_rate=log:1e-4..1e-2 ppo.rollout=32..256:32 ppo.epochs=4,10."""
    trials: int = SweepConfig.trials
    """Settings that a search tries in all."""
    sampler: str = SweepConfig.sampler
    """How a search chooses: tpe, random, cmaes or gp."""
    pruner: str = SweepConfig.pruner
    """How a search notices hopeless runs, by their scores during training: median, halving, hyperband or none."""
    storage: str = SweepConfig.storage
    """Where Optuna keeps its study: the URL of a database; by default study.db in the folder."""
    study: str = SweepConfig.study
    """What the study is called in a database of your own; by default the sweep's name and some letters."""
    out: str = ""
    """The sweep's folder; by default sweeps/NAME."""
    jobs: int = 0
    """Runs at once; 0 for as many as the cores bear."""
    cluster: str = ""
    """Train on Ray: local, auto (the cluster that this machine is part of) or HOST:PORT of its head."""
    slurm: bool = False
    """Train nothing: write the scripts of a job array for SLURM, and of its merge step."""
    task: int | None = None
    """Train one run, or one trial of a search: what a task of the job array does."""
    merge: bool = False
    """Train nothing: write table, page and best settings of what is there."""
    json: bool = False
    """Print JSON instead of text."""
    quiet: bool = False
    """Show nothing but warnings."""


CONFIG = ("seeds", "grid", "search", "space", "trials", "sampler", "pruner", "storage", "study")
"""The flags that are a part of the plan."""


def main(arguments: list[str]) -> int:
    """Run `garrison sweep`."""
    source = arguments[0] if arguments and not arguments[0].startswith("-") else ""
    own, others = own_flags(arguments[1:] if source else arguments, flags())
    args = tyro.cli(Arguments, prog="garrison sweep [PRESET | FILE.yaml | ENVIRONMENT | FOLDER]", args=own)
    require("yaml", *([] if args.merge else ["torch"]))
    if not source:
        raise UserError("name what to train: garrison sweep PRESET --seeds 10.")
    check_jobs(args.jobs)
    folder, plan = find_sweep(source, args, own, others)
    say: Callable[[str], None] = (lambda text: None) if args.quiet or args.json else partial(print, flush=True)
    if args.slurm:
        return prepare_slurm(plan, folder, say)
    if args.merge:
        results = merge(plan, folder, study_of(plan, folder))
        show(results, folder, args)
        return 0
    swept = run_sweep(plan, folder, say, jobs=args.jobs, cluster=args.cluster, task=args.task)
    if args.task is None:
        show(swept.results, folder, args)
        say(ending(swept))
    return swept.exit_code


def flags() -> set[str]:
    """Return the command's own flags; all others are those of `garrison train`."""
    names = [field.name for field in fields(Arguments)]
    return {"-h", "--help", *(f"--{name}" for name in names), *(f"--no-{name}" for name in names)}


def find_sweep(source: str, args: Arguments, own: list[str], others: list[str]) -> tuple[SweepFolder, SweepPlan]:
    """Return the folder and the plan: of the sweep that is in a folder, or of one that the arguments describe."""
    given = [name for name in CONFIG if any(word.split("=")[0] == f"--{name}" for word in own)]
    if (Path(source) / FILE).is_file() or (Path(source).is_dir() and source not in PRESETS):
        extra = [f"--{name}" for name in given] + (["--out"] if args.out else []) + others
        if extra:
            raise UserError(f"{source} is continued with the settings that it has: leave out {extra[0]}.")
        return reopen_sweep(Path(source))
    if value_of("--resume", others) is not None:
        raise UserError("a sweep goes on with every run that was stopped: leave out --resume.")
    section: dict[str, Any] = {}
    if is_settings_file(source):
        name, base, section = find_base(source)
        trained = train.read_flags(train.Arguments(base), others, source)
    else:
        name, trained = train.parse([source, *others])
    plan = make_plan(name, trained.experiment, configured(read_config(section), args, given))
    return open_sweep(plan, Path(args.out) if args.out else DEFAULT / name)


def configured(base: SweepConfig, args: Arguments, given: list[str]) -> SweepConfig:
    """Return what is varied: as the file says, and then as the flags say."""
    changes: dict[str, Any] = {}
    for name in given:
        value = getattr(args, name)
        changes[name] = written_pairs(value, f"--{name}") if name in ("grid", "space") else value
    return replace(base, **changes)


def prepare_slurm(plan: SweepPlan, folder: SweepFolder, say: Callable[[str], None]) -> int:
    """Write the scripts; the study of a search is made now, so that no two tasks make it."""
    study_of(plan, folder)
    array, merging = write_scripts(plan, folder, most_cores(plan))
    say(f"{plan.describe()}\nLook at {array} and {merging}; then submit both:\n\n  {how_to_submit(array, merging)}")
    return 0


def show(results: Any, folder: SweepFolder, args: Arguments) -> None:
    """Print the table."""
    if args.json:
        print(json.dumps(facts(results), indent=2))
    elif not args.quiet:
        print(f"\n{to_text(results)}\n\n{page_of(folder.path)}")
        if folder.best.exists():
            print(f"The best settings: garrison train {folder.best}")


def ending(swept: Swept) -> str:
    """Return how it ended, if there is more to do."""
    if swept.state in ("interrupted", "stopped") or swept.failures:
        return f"Go on with: garrison sweep {swept.folder}"
    return ""
