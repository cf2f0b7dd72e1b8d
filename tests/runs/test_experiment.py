"""Settings: exact round trips, errors that suggest, and which source wins."""

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from garrison.commands.train import parse
from garrison.errors import UserError
from garrison.learn.config import PolicyConfig, PPOConfig
from garrison.runs.experiment import Experiment, RunConfig, load_experiment, parse_duration
from garrison.runs.presets import PRESETS, preset
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


@given(EXPERIMENTS)
def test_yaml_and_back_is_the_same_experiment(experiment: Experiment) -> None:
    assert Experiment.from_yaml(experiment.to_yaml()) == experiment
    assert Experiment.from_dict(experiment.to_dict()) == experiment


@pytest.mark.parametrize("name", PRESETS)
def test_presets_survive_a_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(preset(name).to_yaml())
    assert load_experiment(tmp_path / "x.yaml") == preset(name)


def test_a_file_says_only_what_differs() -> None:
    experiment = Experiment.from_yaml(
        "env: {red: meander}\nppo:\n  learning_rate: 1e-3\n  policy: {hidden: [256, 256]}"
    )
    assert experiment.env == dataclasses.replace(EnvConfig(), red="meander")
    assert experiment.learner.learning_rate == 1e-3  # YAML 1.1 reads 1e-3 as text
    assert experiment.learner.policy.hidden == (256, 256)
    assert Experiment.from_yaml("") == Experiment()


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
    ],
)
def test_a_wrong_file_is_an_error_that_names_the_place_and_the_fix(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        Experiment.from_yaml(text)


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
