"""Everything that decides a run, as frozen dataclasses; YAML files in and out.

A file may say any part of it; the rest keeps the defaults. What is unknown or of the wrong type is an error that names
the place and suggests the right word.
"""

import types
import typing
from collections.abc import Collection
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

import tyro

from garrison.cage2.names import ACTION_SETS, ENCODERS, OBSERVATIONS, RULES, SCRIPTED_REDS
from garrison.errors import UserError, choose
from garrison.learn.config import A3CConfig, ImpalaConfig, PPOConfig
from garrison.system import require

CAGE2 = "garrison/CAGE2-v0"
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}

Learner = PPOConfig | ImpalaConfig | A3CConfig
LEARNERS: dict[str, type[Learner]] = {"ppo": PPOConfig, "impala": ImpalaConfig, "a3c": A3CConfig}
"""The algorithms, and what can be set about each."""

T = TypeVar("T")


@dataclass(frozen=True)
class EnvConfig:
    """The environments to train in."""

    env: str = CAGE2
    """A Gymnasium id: garrison/CAGE2-v0, CartPole-v1, ..."""
    envs: int = 1024
    """How many environments; for IMPALA and A3C, in each actor."""
    backend: str = "auto"
    """How they are stepped: auto, native (CAGE-2 only), serial, shared, async, ... see garrison.vector."""
    workers: int = 0
    """Processes or threads of a backend that has them; 0 lets it choose."""
    red: str = "bline:0.5,meander:0.5"
    """CAGE-2: who attacks: a name (bline, meander, sleep), several with equal odds (bline,meander), or with odds
    (bline:0.7,meander:0.3), drawn at each reset."""
    rules: str = "head"
    """CAGE-2: head (CybORG as it is) or leaderboard (as it was when the challenge was scored)."""
    length: int = 100
    """CAGE-2: steps after which an episode is cut."""
    encoder: str = "challenge"
    """CAGE-2: which 52 observations Blue sees: challenge or wrapper2."""
    observation: str = "bits"
    """CAGE-2: what the policy sees: bits (the 52) or memory (also what it can remember of them and of its actions)."""
    actions: str = "all"
    """CAGE-2: what the policy chooses from: all (the 145) or compact (the 67 that can pay)."""
    env_args: Annotated[dict[str, Any], tyro.conf.Suppress] = field(default_factory=dict)
    """Other environments: arguments for gymnasium.make; YAML only."""

    def __post_init__(self) -> None:
        if self.envs < 1:
            raise UserError(f"envs must be at least 1; got {self.envs}.")
        if self.workers < 0:
            raise UserError(f"workers must be 0 (the backend chooses) or more; got {self.workers}.")
        if self.length < 1:
            raise UserError(f"length must be at least 1; got {self.length}.")
        choose("rules", self.rules, RULES)
        choose("encoder", self.encoder, ENCODERS)
        choose("observation", self.observation, OBSERVATIONS)
        choose("actions", self.actions, ACTION_SETS)
        _ = self.red_odds
        if self.is_cage2 and self.env_args:
            raise UserError(f"env_args are for other environments than {CAGE2}; it has red, rules, length and encoder.")

    @property
    def is_cage2(self) -> bool:
        """Whether the environment is the native CAGE-2."""
        return self.env == CAGE2

    @property
    def red_odds(self) -> dict[str, float]:
        """The odds of each attacker."""
        return parse_odds(self.red)


@dataclass(frozen=True)
class RunConfig:
    """How a run goes and what it leaves behind."""

    duration: str = ""
    """Train for this long instead of a number of steps: 90s, 10m, 1.5h. Schedules then follow the clock, so the result
    depends on the machine's speed."""
    cluster: str = ""
    """Put IMPALA's actors, or the environments of --backend ray, on Ray: local, auto (the cluster that this machine is
    part of) or HOST:PORT of its head."""
    out: str = ""
    """The run's folder; by default runs/NAME-DATE-TIME."""
    checkpoint_every: float = 60.0
    """Seconds between checkpoints; one is always written at the end."""
    evaluate_every: int = 0
    """Steps between official evaluations during training, the best checkpoint of which is kept; 0 means none."""
    evaluate_episodes: int = 1000
    """Episodes in each cell of the official evaluation at the end (CAGE-2); 0 means no evaluation."""
    tensorboard: bool = True
    """Whether to write TensorBoard events."""

    def __post_init__(self) -> None:
        _ = self.seconds
        if self.checkpoint_every <= 0:
            raise UserError(f"checkpoint_every must be a positive number of seconds; got {self.checkpoint_every:g}.")
        if self.evaluate_every < 0:
            raise UserError(f"evaluate_every must be 0 (never) or a number of steps; got {self.evaluate_every}.")
        if self.evaluate_episodes == 1 or self.evaluate_episodes < 0:
            raise UserError(f"evaluate_episodes must be 0 (none) or at least 2; got {self.evaluate_episodes}.")

    @property
    def seconds(self) -> float | None:
        """The duration in seconds, None if the steps decide."""
        return parse_duration(self.duration) if self.duration else None


@dataclass(frozen=True)
class Experiment:
    """One training run; in a file, the learner's section is called by its algorithm."""

    env: EnvConfig = field(default_factory=EnvConfig)
    run: RunConfig = field(default_factory=RunConfig)
    learner: tyro.conf.AvoidSubcommands[Learner] = field(default_factory=PPOConfig)

    @property
    def algorithm(self) -> str:
        """The learner's name: ppo, impala or a3c."""
        return next(name for name, settings in LEARNERS.items() if type(self.learner) is settings)

    def __post_init__(self) -> None:
        if self.run.cluster and self.algorithm != "impala" and self.env.backend != "ray":
            raise UserError(
                f"{self.algorithm} has nothing to put on a cluster: add --backend ray, or choose an impala preset."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as nested plain values."""
        parts = {self.algorithm if f.name == "learner" else f.name: getattr(self, f.name) for f in fields(self)}
        return {name: _plain(asdict(part)) for name, part in parts.items()}

    @classmethod
    def from_dict(cls, values: Any, base: Self | None = None) -> Self:
        """Read nested plain values; what they do not say is taken from `base`."""
        base = base or cls()
        parts = {f.name: getattr(base, f.name) for f in fields(base) if f.name != "learner"}
        if not isinstance(values, dict):
            raise UserError(f"the file must be a mapping of settings; got {values!r}.")
        _check_names(values, [*parts, *LEARNERS], "")
        algorithms = [name for name in values if name in LEARNERS]
        if len(algorithms) > 1:
            raise UserError(f"a run has one learner; the file has settings for {' and '.join(algorithms)}.")
        for name in algorithms:
            kind = LEARNERS[name]
            learner = base.learner if type(base.learner) is kind else kind()
            parts["learner"] = _read(kind, values[name], learner, name)
        read = {name: _read(type(part), values[name], part, name) for name, part in parts.items() if name in values}
        return replace(base, **{**parts, **read})

    def to_yaml(self) -> str:
        """Return the settings as YAML, which `from_yaml` reads back to the same."""
        require("yaml")
        import yaml

        return str(yaml.safe_dump(self.to_dict(), sort_keys=False))

    @classmethod
    def from_yaml(cls, text: str, base: Self | None = None) -> Self:
        """Read settings from YAML text."""
        require("yaml")
        import yaml

        try:
            values = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise UserError(f"not valid YAML: {' '.join(str(error).split())}") from None
        return cls.from_dict({} if values is None else values, base)


def load_experiment(path: Path) -> Experiment:
    """Read a YAML file."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the settings in {path}: {error}.") from None
    try:
        return Experiment.from_yaml(text)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def parse_odds(text: str) -> dict[str, float]:
    """Read `bline`, `bline,meander` or `bline:0.7,meander:0.3`.

    >>> parse_odds("bline,meander")
    {'bline': 0.5, 'meander': 0.5}
    """
    parts = [part.strip().partition(":") for part in text.split(",") if part.strip()]
    names = [choose("red", name.strip(), SCRIPTED_REDS) for name, _, _ in parts]
    if not names or len(set(names)) != len(names):
        raise UserError(f"red must name attackers, each once, such as bline or bline:0.7,meander:0.3; got {text!r}.")
    if not any(colon for _, colon, _ in parts):
        return dict.fromkeys(names, 1.0 / len(names))
    try:
        odds = {name: float(share) for name, (_, _, share) in zip(names, parts, strict=True)}
    except ValueError:
        raise UserError(f"every attacker in red needs odds, such as bline:0.7,meander:0.3; got {text!r}.") from None
    if not (min(odds.values()) >= 0 and abs(sum(odds.values()) - 1.0) <= 1e-6):  # also catches NaN
        raise UserError(f"the odds in red must be 0 or more and sum to 1; got {text!r}.")
    return odds


def parse_duration(text: str) -> float:
    """Return a duration in seconds.

    >>> parse_duration("1.5h")
    5400.0
    """
    number, unit = (text[:-1], text[-1]) if text[-1:] in UNITS else (text, "")
    try:
        seconds = float(number) * UNITS[unit]
    except (ValueError, KeyError):
        raise UserError(f"duration must be a number and s, m or h, such as 90s, 10m or 1.5h; got {text!r}.") from None
    if not 0 < seconds < float("inf"):
        raise UserError(f"duration must be more than 0; got {text!r}.")
    return seconds


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _read(cls: type[T], values: Any, base: T, where: str) -> T:
    """Build a dataclass from a mapping; `where` is the path to it, for messages."""
    if not isinstance(values, dict):
        raise UserError(f"{where} must be a mapping of settings; got {values!r}.")
    hints = typing.get_type_hints(cls)
    _check_names(values, hints, where)
    changes = {
        key: _read(hints[key], value, getattr(base, key), _join(where, key))
        if is_dataclass(hints[key])
        else _convert(value, hints[key], _join(where, key))
        for key, value in values.items()
    }
    try:
        return replace(base, **changes)  # type: ignore[type-var]
    except UserError as error:
        raise UserError(f"{where}: {error}") from None


def _check_names(values: dict[Any, Any], known: Collection[str], where: str) -> None:
    for key in values:
        if key not in known:
            near = get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}."
            raise UserError(f"unknown setting {_join(where, key)!r}; {hint}")


def _join(where: str, key: object) -> str:
    return f"{where}.{key}" if where else str(key)


def _convert(value: Any, hint: Any, where: str) -> Any:
    """Return `value` as the type that a field wants; a whole number is also a float, nothing else is bent."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        options = typing.get_args(hint)
        if value is None and type(None) in options:
            return None
        return _convert(value, next(option for option in options if option is not type(None)), where)
    if origin is tuple and isinstance(value, list | tuple):
        return tuple(_convert(item, typing.get_args(hint)[0], where) for item in value)
    if origin is dict and isinstance(value, dict):
        return value
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if hint is float and isinstance(value, str):  # YAML takes 1e-3, without a dot, for text
        try:
            return float(value)
        except ValueError:
            pass
    elif isinstance(hint, type) and isinstance(value, hint) and not (hint is int and isinstance(value, bool)):
        return value
    names = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "text"}
    wanted = names.get(getattr(hint, "__name__", ""), "a list" if origin is tuple else "a mapping")
    raise UserError(f"{where} must be {wanted}; got {value!r}.")
