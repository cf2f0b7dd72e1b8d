"""Experiments in files: which preset a file begins from, and what differs from it."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import gymnasium

from garrison.errors import UserError
from garrison.learn.registry import LEARNERS
from garrison.registration import is_atari
from garrison.runs import yaml_settings
from garrison.runs.experiment import AUTO, NO_PRESET, Experiment, section_of
from garrison.runs.presets import PRESETS, default_preset, preset
from garrison.storage.dotted import flat
from garrison.tasks.registry import EnvConfig

NAMING = ("env", "env_args", "backend")
"""What must be known of an environment before its other settings follow from it."""
PLACE = "run.out"
"""Where a run is written: it differs from every preset and decides nothing."""


def find_experiment(source: str) -> tuple[str, Experiment]:
    """Return the name and the settings of a preset, of a YAML file, or of what is usual for an environment."""
    if is_settings_file(source):
        return Path(source).stem, load_experiment(Path(source))
    if is_environment(source):
        found = default_preset(source)
        return found.name, found
    return source, preset(source)


def is_environment(source: str) -> bool:
    """Return whether this is written like the name of an environment and not like that of a preset.

    >>> is_environment("Pendulum-v1"), is_environment("my_module:MyEnv"), is_environment("ppo-bline")
    (True, True, False)
    """
    return not is_settings_file(source) and (":" in source or is_atari(source) or source in gymnasium.registry)


def is_settings_file(source: str) -> bool:
    """Return whether this names a file, and not a preset or an environment."""
    return source.endswith((".yaml", ".yml")) or Path(source).is_file()


def load_experiment(path: Path) -> Experiment:
    """Read a YAML file; what it does not say is taken from its preset, see `read_experiment`."""
    text = yaml_settings.read_text(path)
    try:
        return read_experiment(yaml_settings.from_yaml(text))
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def load_config(path: Path) -> Experiment:
    """Read the `config.yaml` of a run, to continue it.

    It has every setting that there was, so one that is missing is newer than the run and has its bare default, whatever
    the preset says today.
    """
    text = yaml_settings.read_text(path)
    try:
        values = yaml_settings.from_yaml(text)
        name = values.get("preset", NO_PRESET) if isinstance(values, dict) else NO_PRESET
        return Experiment.from_dict(values, replace(Experiment(), preset=str(name)))
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def read_experiment(values: Any) -> Experiment:
    """Read nested plain values, from the preset that they name on.

    Without a name it is the default one for their environment and their learner, see `default_preset`.
    """
    return Experiment.from_dict(values, _base(values) if isinstance(values, dict) else Experiment())


def to_text(experiment: Experiment) -> str:
    """Return the settings as a file: every one of them, and a comment that says what differs from the preset."""
    if "preset" not in experiment.to_dict():  # a kind of experiment that has none
        return experiment.to_yaml()
    return f"# {describe_base(experiment)}\n{experiment.to_yaml()}"


def describe_base(experiment: Experiment) -> str:
    """Return one line that names the preset and what differs from it.

    >>> describe_base(preset("ppo-bline").changed(rules="head"))
    'preset ppo-bline, but env.rules: head'
    """
    name = f"preset {experiment.preset}"
    if experiment.preset == NO_PRESET:
        name = f"no preset: the bare defaults of {experiment.algorithm}"
    if experiment.preset == AUTO:
        name = f"no preset: what is usual for {experiment.env.env}"
    changes = ", ".join(f"{_short(key)}: {_short(value)}" for key, value in differences(experiment).items())
    return f"{name}, but {changes}" if changes else name


def differences(experiment: Experiment) -> dict[str, Any]:
    """Return the settings that differ from the preset's, by their dotted names."""
    base = PRESETS[experiment.preset][1] if experiment.preset in PRESETS else Experiment()
    if experiment.preset == AUTO:
        base = default_preset(experiment.env.env, experiment.algorithm, experiment.env.env_args, experiment.env.backend)
    if type(base.learner) is not type(experiment.learner):
        base = replace(base, learner=type(experiment.learner)())
    mine, theirs = (flat(each.to_dict()) for each in (experiment, base))
    ignored = {"preset", PLACE}
    return {key: mine[key] for key in mine if key not in ignored and (key not in theirs or mine[key] != theirs[key])}


def _base(values: dict[str, Any]) -> Experiment:
    section = section_of(values)
    env = values.get("env")
    if values.get("preset", AUTO) == AUTO:
        named = {key: env[key] for key in NAMING if key in env} if isinstance(env, dict) else {}
        found = yaml_settings.read(EnvConfig, named, EnvConfig(), "env")
        return default_preset(found.env, section or "ppo", found.env_args, found.backend)
    if not isinstance(values["preset"], str):
        raise UserError(f"preset must be the name of a preset; got {values['preset']!r}.")
    base = preset(values["preset"])
    if section is None or section == base.algorithm:
        return base
    learner = LEARNERS[section].config
    told = values[section] if isinstance(values[section], dict) else {}
    if base.preset != NO_PRESET and not {f.name for f in fields(learner)} <= set(told):
        raise UserError(f"the preset {base.preset} is for {base.algorithm}, and the file has settings for {section}.")
    return replace(base, learner=learner())


def _short(value: Any) -> str:
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if text.isascii() and text.isprintable() else ascii(text)  # fit for a comment
