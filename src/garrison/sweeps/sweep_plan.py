"""The plan of a sweep: which runs it consists of. `SWEEP/sweep.yaml` is the plan, and a file to begin another from."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from secrets import token_hex
from typing import Any

from garrison.errors import UserError, choose
from garrison.runs import yaml_settings
from garrison.runs.experiment import Experiment
from garrison.runs.experiment_file import find_experiment, is_settings_file, read_experiment
from garrison.storage.dotted import flat
from garrison.sweeps.varied import Options, Varied, read_options, read_varied, with_values
from garrison.system import require

FILE = "sweep.yaml"
SECTION = "sweep"
OPTUNA = "optuna"
SAMPLERS = ("tpe", "random", "cmaes", "gp")
NO_PRUNER = "none"
PRUNERS = (NO_PRUNER, "median", "halving", "hyperband")
EVALUATIONS = 20
"""How often a run that may be pruned is scored during training, if nobody says."""
MOST_RUNS = 10_000


@dataclass(frozen=True)
class SweepConfig:
    """What a sweep varies; in a file, the section `sweep`."""

    seeds: int = 1
    """Seeds that every setting is trained with: that of the experiment and the next ones."""
    grid: dict[str, Any] = field(default_factory=dict)
    """Settings with their options, all combinations of which are trained."""
    search: str = ""
    """What chooses settings, instead of a grid: optuna."""
    space: dict[str, Any] = field(default_factory=dict)
    """Settings with their options or ranges, among which it chooses."""
    trials: int = 50
    """Settings that a search tries in all."""
    sampler: str = "tpe"
    """How a search chooses: tpe, random, cmaes or gp."""
    pruner: str = "median"
    """How a search notices hopeless runs, by their scores during training: median, halving, hyperband or none."""
    storage: str = ""
    """Where Optuna keeps its study: the URL of a database; by default study.db in the folder."""
    study: str = ""
    """What the study is called in a database of your own; by default the sweep's name and some letters."""

    def __post_init__(self) -> None:
        for name in ("seeds", "trials"):
            if not 1 <= getattr(self, name) <= MOST_RUNS:
                raise UserError(f"{name} must be from 1 to {MOST_RUNS:,}; got {getattr(self, name)}.")
        if self.search:
            choose("search", self.search, [OPTUNA])
        choose("sampler", self.sampler, SAMPLERS)
        choose("pruner", self.pruner, PRUNERS)

    def check(self) -> None:
        """Refuse what is no sweep: nothing to vary, or two ways of choosing at once."""
        if self.search:
            if not self.space:
                raise UserError("a search needs a space: --space ppo.learning_rate=log:1e-4..1e-2 ppo.epochs=2,4,8.")
            if self.grid:
                raise UserError("a grid tries everything and a search chooses: give a grid or a space, not both.")
        elif self.space:
            raise UserError("a space is searched by Optuna: add --search optuna, or list options in a grid.")
        elif self.seeds == 1 and not self.grid:
            raise UserError("say what to vary: --seeds 10, --grid ppo.learning_rate=1e-3,2.5e-3, or --search optuna.")


@dataclass(frozen=True)
class Setting:
    """One choice of the settings that are varied."""

    number: int
    values: Mapping[str, Any]


@dataclass(frozen=True)
class SweepPlan:
    """A sweep: the experiment, and what is varied of it."""

    name: str
    experiment: Experiment
    config: SweepConfig

    @property
    def is_search(self) -> bool:
        """Whether settings are chosen while it goes."""
        return bool(self.config.search)

    @property
    def seeds(self) -> range:
        """The seeds of every setting."""
        first = self.experiment.learner.seed
        return range(first, first + self.config.seeds)

    @cached_property
    def varied(self) -> list[Varied]:
        """The settings that are varied."""
        base, config = self.experiment, self.config
        if self.is_search:
            return [read_varied(base, name, written) for name, written in config.space.items()]
        return [read_options(base, name, written) for name, written in config.grid.items()]

    @property
    def names(self) -> list[str]:
        """The names of the settings that are varied."""
        return list(self.config.space if self.is_search else self.config.grid)

    @cached_property
    def settings(self) -> list[Setting]:
        """The settings of a grid, in the order of its axes; without a grid there is one."""
        axes = [axis for axis in self.varied if isinstance(axis, Options)]
        combined = product(*(axis.values for axis in axes))
        return [
            Setting(number, dict(zip((axis.name for axis in axes), values, strict=True)))
            for number, values in enumerate(combined)
        ]

    @property
    def runs(self) -> int:
        """How many runs it has at most."""
        settings = self.config.trials if self.is_search else len(self.settings)
        return settings * self.config.seeds

    @property
    def prunes(self) -> bool:
        """Whether runs may be stopped because they are hopeless."""
        return self.is_search and self.config.pruner != NO_PRUNER

    def run_of(self, setting: Setting, seed: int) -> Experiment:
        """Return the settings of one run."""
        found = with_values(self.experiment, setting.values)
        return replace(found, learner=replace(found.learner, seed=seed))

    def describe(self) -> str:
        """Return one line about it."""
        config = self.config
        seeds = "1 seed" if config.seeds == 1 else f"{config.seeds} seeds"
        if self.is_search:
            pruned = f", pruner {config.pruner}" if self.prunes else ""
            return f"{config.trials} trials of {seeds} by Optuna ({config.sampler}{pruned}): {', '.join(self.names)}"
        if config.grid:
            return f"{len(self.settings)} settings with {seeds} each: {', '.join(self.names)}"
        return seeds

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as nested plain values: the sweep's section, then those of the experiment."""
        return {SECTION: yaml_settings.plain(asdict(self.config))} | self.experiment.to_dict()

    def to_text(self) -> str:
        """Return the plan as a file."""
        return yaml_settings.to_yaml(self.to_dict())


def make_plan(name: str, experiment: Experiment, config: SweepConfig) -> SweepPlan:
    """Return a plan whose every run is possible; refuse it with a sentence otherwise."""
    config.check()
    if config.search:  # before anything is written
        require("optuna", "sklearn", *(["cmaes"] if config.sampler == "cmaes" else []))
    if experiment.run.cluster:
        raise UserError("the runs of a sweep are on one machine each: leave run.cluster out of the experiment.")
    if len(experiment.learner.agents) > 1:
        raise UserError("the experiment trains several agents in one run: set its seeds to 1, and give --seeds.")
    last = experiment.learner.seed + config.seeds - 1
    replace(experiment.learner, seed=last)  # refuses what is too large
    experiment = replace(experiment, run=replace(experiment.run, out=""))
    plan = SweepPlan(name, experiment, config)
    if plan.prunes and not experiment.run.evaluate_every:
        if experiment.run.duration:
            raise UserError(
                "a pruner needs scores during training: say how often, such as --evaluate-every 100000, "
                "or choose --pruner none."
            )
        every = max(1, experiment.learner.steps // EVALUATIONS)
        plan = replace(plan, experiment=replace(experiment, run=replace(experiment.run, evaluate_every=every)))
    varied = plan.varied  # refuses unknown names and wrong values
    if not plan.is_search:
        runs = prod([config.seeds, *(len(axis.values) for axis in varied if isinstance(axis, Options))])
        if runs > MOST_RUNS:
            raise UserError(f"the grid has {runs:,} runs; {MOST_RUNS:,} are the most.")
        for setting in plan.settings:
            plan.run_of(setting, experiment.learner.seed)
    return plan


def load_plan(path: Path) -> SweepPlan:
    """Read the plan of a sweep that was begun."""
    experiment, config = _read(path)
    return make_plan(path.resolve().parent.name, experiment, config)


def find_base(source: str) -> tuple[str, Experiment, dict[str, Any]]:
    """Return name, experiment and the section `sweep`, as far as there is one, of a preset, file or environment."""
    path = Path(source)
    if is_settings_file(source):
        values = _values(path)
        section = values.pop(SECTION, {})
        if not isinstance(section, dict):
            raise UserError(f"{path}: {SECTION} must be a mapping of settings.")
        try:
            return path.stem, read_experiment(values), section
        except UserError as error:
            raise UserError(f"{path}: {error}") from None
    name, experiment = find_experiment(source)
    return name, experiment, {}


def read_config(section: Mapping[str, Any]) -> SweepConfig:
    """Read the section `sweep`."""
    return yaml_settings.read(SweepConfig, dict(section), SweepConfig(), SECTION)


def with_study(plan: SweepPlan, before: SweepPlan | None) -> SweepPlan:
    """Return a plan that names its study in a database that others may use too: as it did before, or by a new name."""
    if not plan.config.storage or plan.config.study:
        return plan
    name = before.config.study if before is not None else f"{plan.name}-{token_hex(4)}"
    return replace(plan, config=replace(plan.config, study=name))


def check_same(before: SweepPlan, now: SweepPlan, where: Path) -> None:
    """Refuse to continue a sweep with other settings; only more seeds, of a grid, and more trials may be asked for."""
    old, new = (flat(plan.to_dict()) for plan in (before, now))
    for name in dict.fromkeys((*old, *new)):
        mine, theirs = old.get(name), new.get(name)
        if mine == theirs:
            continue
        may_grow = ("trials",) if now.is_search else ("seeds",)
        if name in (f"{SECTION}.{key}" for key in may_grow) and mine and theirs and theirs > mine:
            continue  # it keeps every run that there is
        raise UserError(
            f"the sweep in {where} has {name} {_said(mine)}, and this one {_said(theirs)}.",
            hint="Continue it with the settings that it has, or choose another folder with --out.",
        )


def _said(value: Any) -> str:
    return "not set" if value is None else repr(value)


def _read(path: Path) -> tuple[Experiment, SweepConfig]:
    values = _values(path)
    section = values.pop(SECTION, None)
    if not isinstance(section, dict):
        raise UserError(f"{path} has no section {SECTION}, so it is no plan of a sweep.")
    try:
        name = values.get("preset", Experiment().preset)
        return Experiment.from_dict(values, replace(Experiment(), preset=str(name))), read_config(section)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def _values(path: Path) -> dict[str, Any]:
    text = yaml_settings.read_text(path)
    try:
        values = yaml_settings.from_yaml(text)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    if not isinstance(values, dict):
        raise UserError(f"{path}: the file must be a mapping of settings.")
    return dict(values)
