"""How the settings that a sweep varies are written, and what is refused."""

import pytest

from garrison.errors import UserError
from garrison.runs.presets import preset
from garrison.sweeps.varied import Options, Range, read_options, read_varied, with_values

CARTPOLE = preset("ppo-cartpole")
CAGE2 = preset("ppo-bline")


@pytest.mark.parametrize(
    ("name", "written", "values"),
    [
        ("ppo.learning_rate", "1e-3,2.5e-3", (0.001, 0.0025)),
        ("ppo.learning_rate", [1, "1e-3"], (1.0, 0.001)),
        ("ppo.minibatches", "4,8,16", (4, 8, 16)),
        ("ppo.policy.hidden", "[64,64],[128]", ([64, 64], [128])),
        ("ppo.normalise_returns", "true,false", (True, False)),
        ("env.env_args.gravity", "9.8,1.6", (9.8, 1.6)),
    ],
)
def test_options_have_the_types_of_their_setting(name: str, written: object, values: tuple[object, ...]) -> None:
    found = read_options(CARTPOLE, name, written)
    assert found == Options(name, values)
    assert [type(value) for value in found.values] == [type(value) for value in values]


def test_an_option_with_a_comma_is_quoted() -> None:
    found = read_options(CAGE2, "env.red", '"bline:0.5,meander:0.5",bline')
    assert found.values == ("bline:0.5,meander:0.5", "bline")


@pytest.mark.parametrize(
    ("name", "written", "found"),
    [
        ("ppo.learning_rate", "log:1e-4..1e-2", Range("ppo.learning_rate", 1e-4, 1e-2, log=True)),
        ("ppo.gamma", "0.9..0.999", Range("ppo.gamma", 0.9, 0.999)),
        ("ppo.rollout", "32..256:32", Range("ppo.rollout", 32, 256, step=32, is_whole=True)),
        ("ppo.epochs", "log:1..16", Range("ppo.epochs", 1, 16, log=True, is_whole=True)),
    ],
)
def test_ranges(name: str, written: str, found: Range) -> None:
    assert read_varied(CARTPOLE, name, written) == found


@pytest.mark.parametrize(
    ("name", "written", "said"),
    [
        ("learning_rate", "1,2", "did you mean 'ppo.learning_rate'"),
        ("ppo.lerning_rate", "1,2", "did you mean 'ppo.learning_rate'"),
        ("impala.gamma", "0.9", "unknown setting"),
        ("ppo.seed", "1,2", "--seeds says how many"),
        ("run.duration", "1m,2m", "the same for all runs"),
        ("ppo.gamma", "0.9,2", "gamma cannot be 2"),
        ("ppo.gamma", "0.9..2", "gamma cannot be 2"),
        ("ppo.epochs", "x", "ppo.epochs must be a whole number"),
        ("ppo.epochs", "1,1", "has an option twice"),
        ("ppo.epochs", "1..2.5", "whole ends"),
        ("ppo.gamma", "0.9..0.8", "begins where it should end"),
        ("ppo.entropy_coef", "log:0..1", "must begin above 0"),
        ("ppo.rollout", "log:32..64:8", "has no steps"),
        ("ppo.rollout", "32..64:0", "more than 0"),
        ("ppo.gamma", "nan..1", "a range of numbers"),
        ("ppo.learning_rate_schedule", "a..b", "is no number"),
        ("ppo.gamma", "[", "not valid YAML"),
        ("ppo.gamma", "null", "needs options"),
    ],
)
def test_what_is_wrong_is_a_sentence(name: str, written: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_varied(CARTPOLE, name, written)


def test_an_experiment_with_other_values_keeps_the_rest() -> None:
    changed = with_values(CARTPOLE, {"ppo.policy.hidden": [8], "ppo.gamma": 0.5, "env.env_args.x": 1})
    assert changed == CARTPOLE.changed(hidden=(8,), gamma=0.5, env_args={"x": 1})
    assert with_values(CARTPOLE, {}) == CARTPOLE
