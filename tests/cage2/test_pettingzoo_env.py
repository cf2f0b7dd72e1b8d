"""CAGE-2 for two players: PettingZoo's own tests, and the simulator's own episodes."""

import sys
import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pettingzoo")

from garrison.cage2 import VectorEnv, parallel_env, pettingzoo_adapter
from garrison.cage2.names import RedKind
from garrison.cage2.red_moves import RED_MOVES
from garrison.contract.misuse import NotReset
from garrison.errors import UserError

MOVE_OF = {(move.kind, move.target): move.id for move in RED_MOVES}


def test_it_passes_pettingzoos_own_tests(capsys: pytest.CaptureFixture[str]) -> None:
    from pettingzoo.test import api_test, max_cycles_test, parallel_api_test, parallel_seed_test, render_test, seed_test

    parallel_api_test(parallel_env(), num_cycles=150)
    parallel_seed_test(parallel_env, num_cycles=60)
    max_cycles_test(pettingzoo_adapter)
    with warnings.catch_warnings():
        # It recommends agents called player_0 with equal spaces, and doubts zeros: Blue has seen nothing yet.
        warnings.simplefilter("ignore", UserWarning)
        api_test(pettingzoo_adapter.env(max_cycles=15), num_cycles=40)
        seed_test(lambda: pettingzoo_adapter.env(max_cycles=15), num_cycles=20)
        render_test(lambda **settings: pettingzoo_adapter.env(**settings))
    assert "Passed" in capsys.readouterr().out


def test_masked_moves_play_a_whole_zero_sum_episode() -> None:
    env = parallel_env(max_cycles=40, observation="memory", actions="compact", rules="leaderboard")
    observations, infos = env.reset(seed=5)
    env.action_space("blue").seed(0)
    env.action_space("red").seed(0)
    steps = 0
    while env.agents:
        for agent in env.agents:
            assert env.observation_space(agent).contains(observations[agent])
        actions = {agent: env.action_space(agent).sample(infos[agent]["action_mask"]) for agent in env.agents}
        observations, rewards, terminations, truncations, infos = env.step(actions)
        assert rewards["red"] == -rewards["blue"]
        assert env.batch.truth.red_kind[0] != RedKind.INVALID
        steps += 1
    assert steps == 40
    assert set(truncations.values()) == {True}
    assert set(terminations.values()) == {False}
    with pytest.raises(NotReset, match="over"):
        env.step(actions)


def test_red_playing_blines_choices_gives_blines_episode() -> None:
    scripted = VectorEnv(1, red="bline", length=60)
    env = parallel_env(max_cycles=60)
    scripted.reset(seed=9)
    env.reset(seed=9)
    for t in range(60):
        blue = 132 + (5 * t) % 13 if t % 6 == 5 else 0
        expected, reward, *_ = scripted.step(np.array([blue]))
        if t == 1:
            env.batch.red_view.uniform()  # B_line draws its first target here
        move = MOVE_OF[int(scripted.truth.red_kind[0]), int(scripted.truth.red_target[0])]
        observations, rewards, *_ = env.step({"blue": blue, "red": move})
        assert rewards["blue"] == reward[0]
        assert (observations["blue"] == expected[0]).all()
    assert (env.batch.get_state()["stream"] == scripted.get_state()["stream"]).all()
    assert env.batch.get_state()["total"] == scripted.get_state()["total"] < -20


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({"blue": 0}, "one for 'blue' and one for 'red'"),
        ({"blue": 0, "red": 44}, "red move 44"),
        ({"blue": 145, "red": 0}, "action 145"),
        ({"blue": 0, "red": 0.5}, "whole numbers"),
    ],
)
def test_wrong_actions_are_a_sentence(actions: Any, message: str) -> None:
    env = parallel_env()
    env.reset(seed=0)
    with pytest.raises(UserError, match=message):
        env.step(actions)


def test_without_pettingzoo_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("garrison.system.find_spec", lambda name: None)
    monkeypatch.delitem(sys.modules, "garrison.cage2.pettingzoo_env", raising=False)
    with pytest.raises(UserError, match=r"PettingZoo is not installed.*\[pettingzoo\]"):
        parallel_env()
