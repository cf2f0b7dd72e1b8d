"""Everything that decides a run, as frozen dataclasses; plain values and YAML in and out."""

import re
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import Annotated, Any, Self

import tyro

from garrison.errors import UserError
from garrison.formatting import short
from garrison.learn.config import LearnerConfig, PPOConfig
from garrison.learn.registry import LEARNERS, algorithm_of
from garrison.runs import yaml_settings
from garrison.storage.renamed_settings import with_present_names
from garrison.storage.schema import shown
from garrison.tasks.registry import EnvConfig, task_of
from garrison.tasks.task import Task
from garrison.trackers.together import check_names

SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
NO_PRESET = "none"
"""The bare defaults of a learner."""
AUTO = "auto"
"""What follows from the environment, see `garrison.runs.chosen`."""


@dataclass(frozen=True)
class RunConfig:
    """How a run goes and what it leaves behind."""

    duration: str = ""
    """How long to train, instead of a number of steps: 90s, 10m, 1.5h. Schedules then follow the clock, so the result
    depends on the machine's speed."""
    cluster: str = ""
    """Put IMPALA's actors, or the environments of --backend ray, on Ray: local, auto (the cluster that this machine is
    part of) or HOST:PORT of its head."""
    out: str = ""
    """The run's folder; by default runs/NAME-DATE-TIME."""
    checkpoint_every: float = 60.0
    """Seconds between checkpoints; one is always written at the end."""
    evaluate_every: int = 0
    """Steps between scores during training, the best checkpoint of which is kept; 0 means none."""
    evaluate_episodes: int | None = None
    """Episodes of the score at the end: by default 1000 in each cell of CAGE-2's protocol, and 32 in all on other
    environments; 0 means no score."""
    tensorboard: bool = True
    """Whether to write TensorBoard events."""
    trackers: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(name="tracker")] = ()
    """Where the run is told to besides: wandb (Weights & Biases), mlflow, or a class of your own, module:Class."""
    track_checkpoint: bool = False
    """Whether trackers get the last checkpoint too, as an artefact."""
    callbacks: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(name="callback")] = ()
    """What takes part in the run: classes of your own, module:Class, see docs/callbacks.md."""
    page: bool = True
    """Whether to write index.html, the run's page, while it goes and at its end."""

    def __post_init__(self) -> None:
        _ = self.seconds
        if self.checkpoint_every <= 0:
            raise UserError(f"checkpoint_every must be a positive number of seconds; got {self.checkpoint_every:g}.")
        if self.evaluate_every < 0:
            raise UserError(f"evaluate_every must be 0 (never) or a number of steps; got {self.evaluate_every}.")
        if self.evaluate_episodes is not None and (self.evaluate_episodes == 1 or self.evaluate_episodes < 0):
            raise UserError(f"evaluate_episodes must be 0 (none) or at least 2; got {self.evaluate_episodes}.")
        check_names(self.trackers)
        for name in self.callbacks:
            if ":" not in name:
                raise UserError(f"callback must name a class of your own as module:Class; got {name!r}.")

    @property
    def seconds(self) -> float | None:
        """The duration in seconds, None if the steps decide."""
        return parse_duration(self.duration) if self.duration else None


@dataclass(frozen=True)
class Experiment:
    """One training run; in a file, the learner's section is called by its algorithm."""

    env: EnvConfig = field(default_factory=EnvConfig)
    run: RunConfig = field(default_factory=RunConfig)
    learner: LearnerConfig = field(default_factory=PPOConfig)
    preset: Annotated[str, tyro.conf.Suppress] = NO_PRESET
    """The preset that it began from: `garrison.runs.experiment_file` tells what differs; none for the bare defaults,
    auto for what follows from the environment."""

    @property
    def name(self) -> str:
        """What to call a run that nobody has named: its preset, or else its learner and its environment."""
        if self.preset not in (NO_PRESET, AUTO):
            return self.preset
        return re.sub(r"[^\w.]+", "-", f"{self.algorithm}-{self.env.env}")

    @property
    def algorithm(self) -> str:
        """The learner's name in `garrison.learn.LEARNERS`."""
        return algorithm_of(self.learner)

    @property
    def task(self) -> Task:
        """The family of the environments."""
        return task_of(self.env, self.learner.policy.critic_extras)

    @property
    def has_remote_actors(self) -> bool:
        """Whether the learner's actors are on a cluster."""
        return bool(self.run.cluster) and LEARNERS[self.algorithm].can_cluster

    def __post_init__(self) -> None:
        if self.run.cluster and not self.has_remote_actors and self.env.backend != "ray":
            able = " or ".join(name for name, learner in LEARNERS.items() if learner.can_cluster)
            raise UserError(
                f"{self.algorithm} has nothing to put on a cluster: add --backend ray, or choose an {able} preset."
            )

    def describe(self) -> str:
        """Return one line about the run."""
        until = f"for {self.run.duration}" if self.run.duration else f"{short(self.learner.steps)} steps"
        seeds = self.learner.agents
        who = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
        return f"{self.task.describe()}, {self.env.envs} envs, {until}, {who}"

    def changed(self, **settings: Any) -> Self:
        """Return the same with other settings, under the names that they have in files and as flags.

        >>> Experiment().changed(rules="leaderboard", steps=1000, hidden=(32,)).describe()
        'against bline:0.5,meander:0.5, rules leaderboard, 1024 envs, 1 k steps, seed 0'
        """
        found: Self = _changed(self, settings)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as nested plain values."""
        parts = {self.algorithm if f.name == "learner" else f.name: getattr(self, f.name) for f in self._parts()}
        return {"preset": self.preset} | {name: yaml_settings.plain(asdict(part)) for name, part in parts.items()}

    @classmethod
    def from_dict(cls, values: Any, base: Self) -> Self:
        """Read nested plain values; what they do not say is taken from `base`."""
        parts = {f.name: getattr(base, f.name) for f in base._parts() if f.name != "learner"}
        if not isinstance(values, dict):
            raise UserError(f"the file must be a mapping of settings; got {shown(values)}.")
        values = with_present_names(values)
        yaml_settings.check_names(values, ["preset", *parts, *LEARNERS])
        read = {
            name: yaml_settings.read(type(part), values[name], part, name)
            for name, part in parts.items()
            if name in values
        }
        if (name := section_of(values)) is not None:
            kind = LEARNERS[name].config
            learner = base.learner if type(base.learner) is kind else kind()
            read["learner"] = yaml_settings.read(kind, values[name], learner, name)
        return replace(base, **read)

    def to_yaml(self) -> str:
        """Return the settings as YAML, which `from_yaml` reads back to the same."""
        return yaml_settings.to_yaml(self.to_dict())

    @classmethod
    def from_yaml(cls, text: str, base: Self) -> Self:
        """Read settings from YAML text; what it does not say is taken from `base`."""
        return cls.from_dict(yaml_settings.from_yaml(text), base)

    def _parts(self) -> list[Any]:
        """Return the fields that are sections of a file."""
        return [f for f in fields(self) if is_dataclass(getattr(self, f.name))]


def section_of(values: dict[str, Any]) -> str | None:
    """Return the name of the one learner that settings have a section for; None without one."""
    algorithms = [name for name in values if name in LEARNERS]
    if len(algorithms) > 1:
        raise UserError(f"a run has one learner; the file has settings for {' and '.join(algorithms)}.")
    return algorithms[0] if algorithms else None


def _changed(whole: Any, settings: dict[str, Any]) -> Any:
    """Return a dataclass with other values of its fields and of those in the dataclasses among them."""
    yaml_settings.check_names(settings, sorted(setting_names(whole)))
    changes: dict[str, Any] = {}
    for f in fields(whole):
        part = getattr(whole, f.name)
        if not is_dataclass(part):
            changes |= {f.name: settings[f.name]} if f.name in settings else {}
        elif own := {name: value for name, value in settings.items() if name in setting_names(part)}:
            changes[f.name] = _changed(part, own)
    return replace(whole, **changes)


def setting_names(whole: Any) -> set[str]:
    """Return the names of all settings in a dataclass and in those within it; no two are the same."""
    parts = [(f.name, getattr(whole, f.name)) for f in fields(whole)]
    own = {name for name, part in parts if not is_dataclass(part)}
    return own.union(*(setting_names(part) for _, part in parts if is_dataclass(part)))


def parse_duration(text: str) -> float:
    """Return a duration in seconds.

    >>> parse_duration("1.5h")
    5400.0
    """
    number, unit = (text[:-1], text[-1]) if text[-1:] in SECONDS else (text, "")
    try:
        seconds = float(number) * SECONDS[unit]
    except (ValueError, KeyError):
        raise UserError(f"duration must be a number and s, m or h, such as 90s, 10m or 1.5h; got {text!r}.") from None
    if not 0 < seconds < float("inf"):
        raise UserError(f"duration must be more than 0; got {text!r}.")
    return seconds
