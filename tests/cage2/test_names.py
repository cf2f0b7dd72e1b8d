"""Every name that users can give stands for something: a name without its kernel or its table row is found here."""

import tomllib

import numpy as np
import pytest

from garrison.cage2 import VectorEnv
from garrison.cage2.action_sets import ACTION_IDS
from garrison.cage2.names import ACTION_SETS, ENCODERS, OBSERVATIONS, REDS, RULES, SCRIPTED_REDS, Observation, Red
from garrison.cage2.observation_sets import WIDTHS
from garrison.cage2.scenario import DEFAULT_FILE
from garrison.errors import UserError


def test_the_names_are_these_and_their_codes_stay() -> None:
    assert REDS[:4] == ("bline", "meander", "sleep", "external")  # saved states hold these codes
    assert OBSERVATIONS[:2] == ("bits", "memory")
    assert Red._fields == tuple(name.upper() for name in REDS)
    assert tuple(Red) == tuple(range(len(REDS)))
    assert tuple(Observation) == tuple(range(len(OBSERVATIONS)))
    assert "external" not in SCRIPTED_REDS


@pytest.mark.parametrize("red", [red for red in SCRIPTED_REDS if red != "sleep"])
def test_every_scripted_attacker_does_something(red: str) -> None:
    envs = VectorEnv(1, red=red)
    envs.reset(seed=0)
    envs.step([0])
    assert envs.truth.red_kind[0] > 0


@pytest.mark.parametrize("red", SCRIPTED_REDS)
def test_every_scripted_attacker_can_be_part_of_a_mixture(red: str) -> None:
    other = next(name for name in SCRIPTED_REDS if name != red)
    envs = VectorEnv(400, red={red: 0.75, other: 0.25})
    envs.reset(seed=0)
    assert 260 < (envs.truth.red == REDS.index(red)).sum() < 340
    assert (np.isin(envs.truth.red, [REDS.index(red), REDS.index(other)])).all()


def test_a_mixture_cannot_have_an_external_attacker() -> None:
    with pytest.raises(UserError, match="unknown red 'external'"):
        VectorEnv(2, red={"bline": 0.5, "external": 0.5})


def test_every_observation_action_set_rule_set_and_encoder_has_its_entry() -> None:
    assert list(WIDTHS) == list(range(len(OBSERVATIONS)))
    assert tuple(ACTION_IDS) == ACTION_SETS
    facts = tomllib.loads(DEFAULT_FILE.read_text())
    assert tuple(facts["rules"]) == RULES
    assert tuple(facts["encoders"]) == ENCODERS


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_every_observation_begins_with_the_challenge_s_bits(observation: str) -> None:
    envs, bare = VectorEnv(2, red="meander", observation=observation), VectorEnv(2, red="meander")
    assert envs.reset(seed=1)[0].shape == (2, WIDTHS[OBSERVATIONS.index(observation)])
    bare.reset(seed=1)
    for action in (0, 3, 28, 132):
        shown, expected = envs.step([action] * 2)[0], bare.step([action] * 2)[0]
        np.testing.assert_array_equal(shown[:, :52], expected)
