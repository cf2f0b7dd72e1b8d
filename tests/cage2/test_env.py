"""One environment behind Gymnasium's interface."""

import doctest
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from garrison.cage2 import Env, VectorEnv, env
from garrison.errors import UserError


@pytest.mark.parametrize("red", ["bline", "external"])
def test_gymnasiums_own_checks_pass(red: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*different render modes.*")
        check_env(gymnasium.make("garrison/CAGE2-v0", red=red, render_mode="ansi").unwrapped)


def test_one_environment_equals_its_row_in_a_batch() -> None:
    one = gymnasium.make("garrison/CAGE2-v0", red="meander", length=30)
    many = VectorEnv(4, red="meander", length=30)
    obs, _ = one.reset(seed=12)
    batch, _ = many.reset(seed=10)
    random = np.random.default_rng(0)
    for t in range(30):
        actions = random.integers(145, size=4)
        obs, reward, terminated, truncated, info = one.step(int(actions[2]))
        batch, rewards, _, truncations, infos = many.step(actions)
        np.testing.assert_array_equal(obs, batch[2])
        assert (reward, terminated, truncated) == (rewards[2], False, truncations[2])
        assert truncated is (t == 29)
    assert info["episode_stats"] == {"r": infos["episode_stats"]["r"][2], "l": 30}


def test_observations_belong_to_the_caller() -> None:
    env = Env()
    first, _ = env.reset(seed=0)
    second = env.step(0)[0]
    assert not np.shares_memory(first, second)


def test_wrong_actions_are_named() -> None:
    env = Env()
    env.reset(seed=0)
    for action, message in [(145, "out of range"), (1.5, "whole numbers"), ("x", "whole numbers"), ([0], "shape")]:
        with pytest.raises(UserError, match=message):
            env.step(action)
    assert env.step(np.int64(3))[1] == 0.0


def test_masks_and_render_come_from_the_batch() -> None:
    env = Env(render_mode="ansi")
    env.reset(seed=0)
    assert env.action_masks().shape == (145,)
    assert "Compromised" in str(env.render())


def test_the_docstring_is_true() -> None:
    assert doctest.testmod(env).failed == 0
