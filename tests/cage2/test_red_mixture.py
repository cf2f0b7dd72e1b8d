"""Mixtures with attackers that are not scripted."""

from typing import Any

import numpy as np
import pytest

from garrison.cage2 import RedAgent, VectorEnv
from garrison.cage2.names import Red
from garrison.errors import UserError
from tests.helpers.red_players import AnyMove, Counting, LastMove


def play(envs: VectorEnv, steps: int, start: int = 0) -> np.ndarray:
    actions = [(7 * t) % 145 for t in range(start, start + steps)]
    return np.array([envs.step(np.full(envs.num_envs, a))[1].copy() for a in actions])


def made(red: Any, num_envs: int = 8, seed: int = 3) -> VectorEnv:
    envs = VectorEnv(num_envs, red=red, length=20, autoreset_mode="SameStep")
    envs.reset(seed=seed)
    return envs


EVERYBODY = {"bline": 0.25, "meander": 0.25, AnyMove: 0.25, LastMove: 0.25}


def test_an_episode_depends_on_its_seed_and_not_on_the_batch() -> None:
    together = play(made(EVERYBODY), 70)
    for i in range(8):
        assert (play(made(EVERYBODY, 1, 3 + i), 70)[:, 0] == together[:, i]).all()


@pytest.mark.slow
def test_each_attacker_has_its_share() -> None:
    envs = made({"bline": 0.2, AnyMove: 0.2, LastMove: 0.6}, 4000)
    play(envs, 1)
    red, member = envs.truth.red, envs.red_view.member
    shares = [(red == Red.BLINE), (red == Red.EXTERNAL) & (member == 0), (red == Red.EXTERNAL) & (member == 1)]
    assert [round(float(share.mean()), 1) for share in shares] == [0.2, 0.2, 0.6]


def test_a_saved_state_and_a_clone_go_on_with_the_same_attacker() -> None:
    envs = made(EVERYBODY)
    play(envs, 12)
    saved, twin = envs.get_state(), envs.clone()
    expected = play(envs, 50, 12)
    assert (play(twin, 50, 12) == expected).all()
    envs.set_state(saved)
    assert (play(envs, 50, 12) == expected).all()


def test_scripted_attackers_play_as_if_the_others_were_not_there() -> None:
    rewards, who = [], []
    for other in (LastMove, Counting):
        envs = made({"meander": 0.5, other: 0.5}, 30)
        rewards.append(play(envs, 19))
        who.append(envs.truth.red.copy())
    assert (who[0] == who[1]).all()
    scripted = who[0] == Red.MEANDER
    assert (rewards[0][:, scripted] == rewards[1][:, scripted]).all()
    assert 0 < scripted.mean() < 1


def test_an_attacker_that_remembers_is_asked_about_every_environment() -> None:
    play(made({Counting: 0.5, LastMove: 0.5}, 20), 50)  # it counts by itself


class Silent(RedAgent):
    def act(self, view: Any) -> Any:
        return None


@pytest.mark.parametrize(
    ("red", "message"),
    [
        ({"external": 0.5, AnyMove: 0.5}, "unknown red 'external'"),
        ({"bline": 0.5, AnyMove: 0.2}, "must be at least 0 and sum to 1"),
        ({AnyMove(): 1 / 14 for _ in range(14)}, "at most 13 attackers"),
        ({"bline": 0.5, "no_such_module:Red": 0.5}, "no_such_module"),
    ],
)
def test_a_wrong_mixture_is_a_sentence(red: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        VectorEnv(2, red=red)


def test_a_wrong_answer_names_who_gave_it() -> None:
    envs = made({Silent: 0.5, AnyMove: 0.5})
    with pytest.raises(UserError, match=r"Silent.act must return kinds and targets"):
        play(envs, 1)


def test_what_is_drawn_for_some_environments_is_drawn_from_their_streams() -> None:
    one, other = made("bline", 4), made("bline", 4)
    rows = np.array([1, 3])
    with one.red_view.some(rows) as part:
        numbers = part.uniform()
    assert (numbers == other.red_view.uniform()[rows]).all()
    streams, drawn = one.get_state()["stream"], other.get_state()["stream"]
    assert ((streams == drawn).all(axis=1) == [False, True, False, True]).all()
