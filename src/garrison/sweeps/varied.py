"""The settings that a sweep varies: how they are written, and an experiment with other values of them.

A grid lists options, `1e-3,2.5e-3`. A search also takes ranges: `0.9..0.999`, `log:1e-4..1e-2`, and `32..256:32` with
steps of 32. Numbers are whole where the setting is.
"""

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from garrison.errors import UserError
from garrison.learn.registry import LEARNERS
from garrison.runs.experiment import Experiment
from garrison.runs.yaml_settings import from_yaml
from garrison.storage.dotted import flat
from garrison.storage.schema import shown

LOG = "log:"
RANGE = ".."
STEP = ":"
FREE = "env.env_args."
"""What the names of arguments of an environment begin with, which nobody can list."""


@dataclass(frozen=True)
class Options:
    """A setting and the values that are tried."""

    name: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Range:
    """A setting that is a number, and the interval that it is searched in."""

    name: str
    low: float
    high: float
    log: bool = False
    step: float | None = None
    is_whole: bool = False


Varied = Options | Range


def with_values(experiment: Experiment, values: Mapping[str, Any]) -> Experiment:
    """Return the experiment with other values of settings that are named as in its file: `ppo.learning_rate`."""
    sections = copy.deepcopy(experiment.to_dict())
    for name, value in values.items():
        *way, last = name.split(".")
        place = sections
        for part in way:
            place = place[part]
        place[last] = value
    return Experiment.from_dict(sections, experiment)


def read_options(experiment: Experiment, name: str, written: Any) -> Options:
    """Read the options of a setting: a list, or a text as `garrison sweep` takes it."""
    check_name(experiment, name)
    found = written
    if isinstance(written, str):
        # As YAML writes a list, so that options may be lists themselves: [64,64],[128].
        found = from_yaml(f"[{written}]")
    if not isinstance(found, list | tuple) or not found or None in found:
        raise UserError(f"{name} needs options, such as {name}=1,2,3; got {shown(written)}.")
    values = tuple(_value_of(with_values(experiment, {name: value}), name) for value in found)
    if len({repr(value) for value in values}) < len(values):
        raise UserError(f"{name} has an option twice: {shown(written)}.")
    return Options(name, values)


def read_varied(experiment: Experiment, name: str, written: Any) -> Varied:
    """Read what is searched of a setting: a range, or options."""
    check_name(experiment, name)
    if not isinstance(written, str) or RANGE not in written:
        return read_options(experiment, name, written)
    ends, _, step = written.removeprefix(LOG).partition(STEP)
    low, _, high = ends.partition(RANGE)
    present = _value_of(experiment, name)
    if isinstance(present, bool) or not isinstance(present, int | float):
        raise UserError(f"{name} is no number, so it has no range; list its options, such as {name}=A,B.")
    found = Range(
        name,
        _number(name, low, written),
        _number(name, high, written),
        written.startswith(LOG),
        _number(name, step, written) if step else None,
        isinstance(present, int),
    )
    _check_range(found, written)
    for end in (found.low, found.high):
        with_values(experiment, {name: int(end) if found.is_whole else end})
    return found


def written_pairs(words: tuple[str, ...], flag: str) -> dict[str, str]:
    """Return `NAME=VALUES` of a command line by their names.

    >>> written_pairs(("ppo.gamma=0.9..0.99", "ppo.epochs=2,4"), "--space")
    {'ppo.gamma': '0.9..0.99', 'ppo.epochs': '2,4'}
    """
    found: dict[str, str] = {}
    for word in words:
        name, equals, values = word.partition("=")
        if not equals or not name or not values:
            raise UserError(f"{flag} takes NAME=VALUES, such as ppo.learning_rate=1e-3,2.5e-3; got {word!r}.")
        if name in found:
            raise UserError(f"{flag} names {name} twice.")
        found[name] = values
    return found


def check_name(experiment: Experiment, name: str) -> None:
    """Refuse what is no setting of the experiment, and what a sweep sets by itself."""
    known = flat(experiment.to_dict())
    if not isinstance(name, str):
        raise UserError(f"the names of settings must be text; got {shown(name)}.")
    section, _, rest = name.partition(".")
    if rest in ("seed", "seeds") and section in LEARNERS:
        raise UserError(f"{name} is not varied by itself: --seeds says how many seeds every setting gets.")
    if section in ("run", "preset"):
        raise UserError(f"{name} is the same for all runs of a sweep: give it as a flag of garrison train.")
    if name in known or (name.startswith(FREE) and len(name) > len(FREE)):
        return
    same = [each for each in known if each.rpartition(".")[2] == name]
    near = same or get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}."
    raise UserError(f"unknown setting {name!r}; {hint}")


def short_name(name: str) -> str:
    """Return a setting's name without its section.

    >>> short_name("ppo.policy.hidden")
    'hidden'
    """
    return name.rpartition(".")[2]


def written_value(value: Any) -> str:
    """Return a value as tables show it.

    >>> written_value(0.00025), written_value([64, 64]), written_value("bline")
    ('0.00025', '64 64', 'bline')
    """
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _value_of(experiment: Experiment, name: str) -> Any:
    place: Any = experiment.to_dict()
    for part in name.split("."):
        place = place.get(part) if isinstance(place, dict) else None
    return place


def _number(name: str, text: str, written: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(f"{name} needs a range of numbers, such as log:1e-4..1e-2 or 32..256:32; got {written!r}.")
    return value


def _check_range(found: Range, written: str) -> None:
    parts = [found.low, found.high, *([found.step] if found.step is not None else [])]
    if found.is_whole and any(part != int(part) for part in parts):
        raise UserError(f"{found.name} is a whole number, so its range has whole ends; got {written!r}.")
    if found.low >= found.high:
        raise UserError(f"the range of {found.name} begins where it should end: {written!r}.")
    if found.log and found.low <= 0:
        raise UserError(f"the range of {found.name} is logarithmic, so it must begin above 0; got {written!r}.")
    if found.step is not None and (found.step <= 0 or found.log):
        why = "a logarithmic range has no steps" if found.log else "its step must be more than 0"
        raise UserError(f"the range of {found.name} is wrong, {why}: {written!r}.")
