"""Settings: exact round trips, errors that suggest, and which source wins."""

import dataclasses
import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from garrison.commands.train import parse
from garrison.errors import UserError
from garrison.learn.config import ImpalaConfig, PolicyConfig, PPOConfig
from garrison.runs import yaml_settings
from garrison.runs.experiment import Experiment, RunConfig, parse_duration, setting_names
from garrison.runs.experiment_file import (
    describe_base,
    differences,
    load_config,
    load_experiment,
    read_experiment,
    to_text,
)
from garrison.runs.presets import PRESETS, default_preset, preset
from garrison.storage.dotted import flat
from garrison.tasks.cage2 import parse_odds
from garrison.tasks.registry import EnvConfig

POSITIVE = st.floats(1e-300, 1e300)
EXPERIMENTS = st.builds(
    Experiment,
    env=st.builds(
        EnvConfig,
        env=st.text(min_size=1).filter(lambda name: name != "garrison/CAGE2-v0"),
        envs=st.integers(1, 10**6),
        red=st.sampled_from(["bline", "meander,sleep", "bline:0.25,meander:0.75"]),
        rules=st.sampled_from(["head", "leaderboard"]),
        env_args=st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text()),
    ),
    run=st.builds(
        RunConfig,
        duration=st.sampled_from(["", "90s", "1.5h"]),
        out=st.text(),
        checkpoint_every=POSITIVE,
        tensorboard=st.booleans(),
    ),
    learner=st.builds(
        PPOConfig,
        learning_rate=POSITIVE,
        gamma=st.floats(0, 1),
        seed=st.integers(0, 2**63 - 1),
        action_masks=st.booleans(),
        policy=st.builds(PolicyConfig, hidden=st.lists(st.integers(1, 999)).map(tuple)),
    ),
)


def read(text: str) -> Experiment:
    return read_experiment(yaml_settings.from_yaml(text))


@given(EXPERIMENTS)
def test_yaml_and_back_is_the_same_experiment(experiment: Experiment) -> None:
    assert read(to_text(experiment)) == experiment
    assert read_experiment(experiment.to_dict()) == experiment


@pytest.mark.parametrize("name", PRESETS)
def test_presets_survive_a_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(to_text(preset(name)))
    assert load_experiment(tmp_path / "x.yaml") == preset(name)


def test_a_file_says_only_what_differs_from_the_default_preset() -> None:
    experiment = read("env: {red: meander}\nppo:\n  learning_rate: 1e-3\n  policy: {hidden: [256, 256]}")
    base = preset("ppo-mixed")
    assert experiment.env == dataclasses.replace(base.env, red="meander")
    assert experiment.learner.learning_rate == 1e-3  # YAML 1.1 reads 1e-3 as text
    assert experiment.learner.policy.hidden == (256, 256)
    assert experiment == base.changed(red="meander", learning_rate=1e-3, hidden=(256, 256))
    assert read("") == base


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("run: {duration: 10m}", "ppo-mixed"),
        ("ppo: {gamma: 0.5}", "ppo-mixed"),
        ("impala: {gamma: 0.5}", "impala-mixed"),
        ("a3c: {gamma: 0.5}", "a3c-mixed"),
        ("preset: record-head\nppo: {gamma: 0.5}", "record-head"),
        ("preset: ppo-cartpole\nenv: {env: Acrobot-v1}", "ppo-cartpole"),
        ("env: {env: CartPole-v1}", "auto"),
        ("preset: auto\nenv: {env: CartPole-v1}\nppo: {gamma: 0.5}", "auto"),
        ("preset: none", "none"),
    ],
)
def test_a_file_begins_from_its_preset_or_the_default_one(text: str, base: str) -> None:
    experiment = read(text)
    assert experiment.preset == base
    said = flat(yaml_settings.from_yaml(text))
    said.pop("preset", None)
    if base == "auto":
        said.pop("env.env")  # the other settings follow from it
    assert differences(experiment) == said


def test_another_environment_begins_from_what_is_usual_for_it() -> None:
    experiment = read("env: {env: CartPole-v1}\nimpala: {gamma: 0.5}")
    assert experiment == default_preset("CartPole-v1", "impala").changed(gamma=0.5)
    assert describe_base(experiment) == "no preset: what is usual for CartPole-v1, but impala.gamma: 0.5"
    name, args = parse(["--env", "CartPole-v1"])
    assert (name, args.experiment) == ("ppo-CartPole-v1", default_preset("CartPole-v1"))
    assert parse(["CartPole-v1"])[1] == args


def test_the_bare_defaults_of_a_learner_are_had_by_name() -> None:
    experiment = read("preset: none\nenv: {env: CartPole-v1}\nimpala: {gamma: 0.5}")
    assert experiment == Experiment(EnvConfig(env="CartPole-v1"), learner=ImpalaConfig(gamma=0.5))
    assert describe_base(experiment).startswith("no preset: the bare defaults of impala, but env.env: CartPole-v1")


def test_a_run_repeats_from_its_own_file_also_one_that_names_no_preset(tmp_path: Path) -> None:
    """Every setting is in it, so neither the preset nor its absence changes anything."""
    bare = Experiment().changed(gamma=0.5)
    for experiment in (bare, preset("record").changed(steps=7), preset("a3c-mixed").changed(envs=3)):
        (tmp_path / "config.yaml").write_text(to_text(experiment))
        assert load_experiment(tmp_path / "config.yaml") == experiment
        assert load_config(tmp_path / "config.yaml") == experiment
        old = experiment.to_dict()
        del old["preset"]
        (tmp_path / "config.yaml").write_text(yaml_settings.to_yaml(old))
        for again in (load_experiment(tmp_path / "config.yaml"), load_config(tmp_path / "config.yaml")):
            assert dataclasses.replace(again, preset=experiment.preset) == experiment


def test_a_setting_that_is_newer_than_a_run_has_its_bare_default_when_the_run_continues(tmp_path: Path) -> None:
    old = preset("ppo-mixed").to_dict()
    del old["ppo"]["action_masks"]
    (tmp_path / "config.yaml").write_text(yaml_settings.to_yaml(old))
    assert load_config(tmp_path / "config.yaml").learner.action_masks is False
    assert preset("ppo-mixed").learner.action_masks is True


def test_the_file_of_a_run_says_what_differs_from_its_preset() -> None:
    experiment = preset("ppo-bline").changed(rules="head", hidden=(32, 16), out="somewhere")
    first = to_text(experiment).splitlines()[0]
    assert first == "# preset ppo-bline, but env.rules: head, ppo.policy.hidden: 32 16"
    assert describe_base(preset("ppo-bline")) == "preset ppo-bline"


def test_settings_are_changed_under_the_names_of_their_flags() -> None:
    experiment = preset("ppo-bline").changed(env="CartPole-v1", rules="head", duration="5m", gamma=0.5, hidden=(8,))
    assert (experiment.env.env, experiment.env.rules, experiment.run.duration) == ("CartPole-v1", "head", "5m")
    assert (experiment.learner.gamma, experiment.learner.policy.hidden) == (0.5, (8,))
    with pytest.raises(UserError, match="unknown setting 'gama'; did you mean 'gamma'"):
        preset("ppo-bline").changed(gama=0.5)
    with pytest.raises(UserError, match="unknown rules 'hed'"):
        preset("ppo-bline").changed(rules="hed")


def test_the_observations_of_cage2_are_still_named_by_their_old_setting(capsys: pytest.CaptureFixture[str]) -> None:
    """A policy's encoder has the name `encoder` now; files and command lines of before mean what they meant."""
    assert read("env:\n  encoder: wrapper2\n").env.challenge_encoder == "wrapper2"
    for words in (["--encoder", "wrapper2"], ["--encoder=wrapper2"]):
        experiment = parse(["ppo-bline", *words])[1].experiment
        assert experiment.env.challenge_encoder == "wrapper2"
        assert experiment.learner.policy.encoder == "auto"
        assert "--encoder is now called --challenge-encoder" in capsys.readouterr().err
    experiment = parse(["ppo-bline", "--encoder", "mlp"])[1].experiment
    assert (experiment.env.challenge_encoder, experiment.learner.policy.encoder) == ("challenge", "mlp")


@pytest.mark.parametrize("name", PRESETS)
def test_no_two_settings_of_an_experiment_have_the_same_name(name: str) -> None:
    """So that flags and `changed` need no more than the name."""
    values = preset(name).to_dict()
    values["env"]["env_args"] = {}  # what is in it belongs to the environment
    names = [key.rpartition(".")[2] for key in flat(values)]
    assert len(names) == len(set(names))
    assert set(names) == setting_names(preset(name))


@pytest.mark.parametrize("name", PRESETS)
def test_flags_files_and_python_agree_about_every_setting(name: str) -> None:
    """Walks over all settings of the preset: what `--help` calls the default is what a file and Python begin from."""
    by_flags, by_file, by_python = parse([name])[1].experiment, read(f"preset: {name}"), preset(name)
    assert by_flags == by_file == by_python
    assert flat(by_flags.to_dict()) == flat(by_file.to_dict())


@pytest.mark.parametrize("section", ["", "ppo: {}", "impala: {}", "a3c: {}"])
@pytest.mark.parametrize("env", ["garrison/CAGE2-v0", "CartPole-v1"])
def test_without_a_preset_files_and_flags_begin_from_the_same(section: str, env: str) -> None:
    by_file = read(f"env: {{env: {env}}}\n{section}")
    assert by_file == default_preset(env, section.partition(":")[0] or "ppo")
    if not section:
        assert parse(["--env", env])[1].experiment == by_file
        assert env != "garrison/CAGE2-v0" or parse([])[1].experiment == by_file


def test_the_training_example_is_the_preset_that_the_command_trains() -> None:
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "train_ppo.py"))["experiment"]
    _, args = parse(["ppo-bline", "--rules", "head", "--steps", "1000000"])
    assert example(1_000_000) == args.experiment


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ppo: {learning_rte: 1}", r"unknown setting 'ppo.learning_rte'; did you mean 'learning_rate'\?"),
        ("ppo: {policy: {hiden: [64]}}", r"unknown setting 'ppo.policy.hiden'; did you mean 'hidden'\?"),
        ("envs: 3", r"unknown setting 'envs'; did you mean 'env'\?"),
        ("env: {rules: leadboard}", r"env: unknown rules 'leadboard'; did you mean 'leaderboard'\?"),
        ("env: {red: blime}", r"unknown red 'blime'; did you mean 'bline'\?"),
        ("env: {red: 'bline:0.7,meander:0.7'}", "sum to 1"),
        ("env: {red: 'bline:x,meander:0.7'}", "needs odds"),
        ("env: {red: 'bline,bline'}", "each once"),
        ("env: {red: 'bline:nan'}", "sum to 1"),
        ("env: {envs: many}", "env.envs must be a whole number; got 'many'"),
        ("env: {envs: 1.5}", "env.envs must be a whole number; got 1.5"),
        ("env: {envs: true}", "env.envs must be a whole number; got True"),
        ("ppo: {gamma: high}", "ppo.gamma must be a number; got 'high'"),
        ("ppo: {policy: {hidden: 64}}", "ppo.policy.hidden must be a list; got 64"),
        ("run: {duration: 10}", "run.duration must be text; got 10"),
        ("run: {duration: 10 parsecs}", "a number and s, m or h"),
        ("run: {tensorboard: perhaps}", "true or false"),
        ("ppo: 3", "ppo must be a mapping"),
        ("- a", "must be a mapping"),
        ("a: [", "not valid YAML"),
        ("env: {env_args: {x: 1}}", "env_args are for other environments"),
        ("preset: ppo-mixd", "unknown preset 'ppo-mixd'; did you mean 'ppo-mixed'"),
        ("preset: 3", "preset must be the name of a preset; got 3"),
        (
            "preset: ppo-mixed\nimpala: {gamma: 0.5}",
            "ppo-mixed is for ppo, and the file has settings for impala",
        ),
    ],
)
def test_a_wrong_file_is_an_error_that_names_the_place_and_the_fix(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(text)


def test_flags_win_over_the_file_and_the_file_over_defaults(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("env: {envs: 7, red: meander}\nppo: {gamma: 0.5}")
    flags = ["--gamma", "0.25", "--hidden", "32", "16", "--steps", "100", "--red", "bline,sleep", "--quiet"]
    name, args = parse([str(tmp_path / "mine.yaml"), *flags])
    assert name == "mine"
    assert args.quiet
    assert (args.experiment.env.envs, args.experiment.env.red) == (7, "bline,sleep")
    assert (args.experiment.learner.gamma, args.experiment.learner.steps) == (0.25, 100)
    assert args.experiment.learner.policy.hidden == (32, 16)
    assert args.experiment.learner.clip == PPOConfig().clip


def test_flags_win_over_the_preset() -> None:
    name, args = parse(["ppo-meander", "--seed", "9", "--backend", "shared"])
    assert name == "ppo-meander"
    assert args.experiment.env.red == "meander"
    expected = preset("ppo-meander")
    expected = dataclasses.replace(expected, learner=dataclasses.replace(expected.learner, seed=9))
    assert args.experiment == dataclasses.replace(expected, env=dataclasses.replace(expected.env, backend="shared"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ppo-mixd"], "did you mean 'ppo-mixed'"),
        (["none.yaml"], "cannot read the settings in none.yaml"),
        (["ppo-mixed", "--resume", "somewhere"], "leave out 'ppo-mixed'"),
        (["--resume", "somewhere"], "somewhere does not exist"),
    ],
)
def test_a_wrong_source_is_an_error_with_the_fix(arguments: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse(arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lerning-rate", "1"], "--learning-rate"),
        (["--rules", "hed"], "did you mean 'head'"),
        (["--envs", "many"], "many"),
    ],
)
def test_wrong_flags_end_with_code_2_and_a_suggestion(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_odds_and_durations() -> None:
    assert parse_odds("bline") == {"bline": 1.0}
    assert parse_odds("bline:0.2, sleep:0.8") == {"bline": 0.2, "sleep": 0.8}
    assert [parse_duration(text) for text in ("90s", "10m", "1.5h")] == [90.0, 600.0, 5400.0]
    for text in ("10", "m", "-3s", "infs", "nans"):
        with pytest.raises(UserError):
            parse_duration(text)
