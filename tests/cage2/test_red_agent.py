"""An attacker of one's own: played inside the batch, from the environments' own streams and states."""

import copy
import pickle
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import garrison  # noqa: F401 - registers the environments
from garrison.cage2 import RedAgent, RedView, VectorEnv
from garrison.cage2.names import Host, Red, RedKind
from garrison.errors import UserError

sys.path.append(str(Path(__file__).parents[2] / "examples"))
OPPORTUNIST = "own_attacker:Opportunist"


def play(envs: VectorEnv, steps: int = 40, seed: Any = 3) -> np.ndarray:
    """Return the rewards, (steps, n), under Blue's actions that depend on the step only."""
    envs.reset(seed=seed)
    return go_on(envs, 0, steps)


def go_on(envs: VectorEnv, start: int, steps: int) -> np.ndarray:
    actions = [(7 * t) % 145 for t in range(start, start + steps)]
    return np.array([envs.step(np.full(envs.num_envs, a))[1].copy() for a in actions])


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_an_episode_depends_on_its_seed_and_not_on_the_batch(mode: str) -> None:
    together = play(VectorEnv(6, red=OPPORTUNIST, length=15, autoreset_mode=mode), 50)
    assert (together < -1).any()
    for i in range(6):
        alone = play(VectorEnv(1, red=OPPORTUNIST, length=15, autoreset_mode=mode), 50, 3 + i)
        assert (alone[:, 0] == together[:, i]).all()


def test_the_action_is_blues_alone_and_masks_and_truth_are_there() -> None:
    envs = VectorEnv(4, red=OPPORTUNIST, observation="memory", actions="compact")
    assert isinstance(envs.single_action_space, gymnasium.spaces.Discrete)
    play(envs, 1)
    assert envs.action_masks().shape == (4, envs.single_action_space.n)
    assert (envs.truth.red == Red.EXTERNAL).all()
    assert (envs.truth.red_kind == RedKind.ESCALATE).all()
    assert (envs.truth.red_target == Host.USER0).all()


def test_a_saved_state_a_clone_and_a_copy_go_on_exactly() -> None:
    envs = VectorEnv(5, red=OPPORTUNIST, length=30)
    play(envs, 12)
    saved, twin, pickled, copied = envs.get_state(), envs.clone(), pickle.loads(pickle.dumps(envs)), copy.deepcopy(envs)
    expected = go_on(envs, 12, 40)
    for other in (twin, pickled, copied):
        assert (go_on(other, 12, 40) == expected).all()
    envs.set_state(saved)
    assert (go_on(envs, 12, 40) == expected).all()


def test_class_instance_and_name_play_the_same_in_one_environment_too() -> None:
    from own_attacker import Opportunist  # type: ignore[import-not-found]

    batches = [VectorEnv(2, red=red) for red in (OPPORTUNIST, Opportunist, Opportunist())]
    first, second, third = (play(envs) for envs in batches)
    assert (first == second).all()
    assert (first == third).all()
    env = gymnasium.make("garrison/CAGE2-v0", red=OPPORTUNIST)
    env.reset(seed=3)
    assert [env.step((7 * t) % 145)[1] for t in range(40)] == first[:, 0].tolist()


class Watched(RedAgent):
    """Sleeps and keeps what it is told."""

    def __init__(self) -> None:
        self.begun: list[list[bool]] = []

    def reset(self, mask: np.ndarray) -> None:
        self.begun.append(mask.tolist())

    def act(self, view: RedView) -> tuple[int, int]:
        with pytest.raises(ValueError, match="read-only"):
            view.access[:] = 2
        return RedKind.SLEEP, -1


def test_an_agent_is_told_where_episodes_begin() -> None:
    agent = Watched()
    envs = VectorEnv(2, red=agent, length=[2, 3], autoreset_mode="SameStep")
    play(envs, 4)
    assert agent.begun == [[True, True], [True, False], [False, True]]


class Wrong(RedAgent):
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, view: RedView) -> Any:
        return self.answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "Wrong.act must return kinds and targets"),
        (([1, 2], [3]), "one of each for 3 environments"),
        ((9, 0), "kind of red action 9"),
        ((RedKind.SCAN, -1), "target of red action -1"),
        ((0.5, 0), "must be whole numbers"),
    ],
)
def test_a_wrong_answer_is_a_sentence_and_moves_nothing(answer: Any, message: str) -> None:
    envs = VectorEnv(3, red=Wrong(answer))
    envs.reset(seed=0)
    before = envs.get_state()
    with pytest.raises(UserError, match=message):
        envs.step(np.zeros(3, int))
    assert (envs.get_state() == before).all()


@pytest.mark.parametrize(
    ("red", "message"),
    [
        ("no_such_module:Mine", "cannot be imported"),
        ("own_attacker:Mine", "there is no 'Mine' in the module 'own_attacker'"),
        ("own_attacker:main", "derive a class from garrison.cage2.RedAgent"),
    ],
)
def test_a_wrong_name_is_a_sentence(red: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        VectorEnv(1, red=red)


@pytest.mark.slow
def test_picks_are_among_the_allowed_and_even() -> None:
    envs = VectorEnv(30_000)
    envs.reset(seed=0)
    allowed = np.zeros((30_000, 13), bool)
    allowed[:, [2, 5, 11]] = True
    allowed[0] = False
    picked = RedView(envs._envs).pick(allowed)
    assert picked[0] == -1
    shares = np.bincount(picked[1:], minlength=13) / 29_999
    assert shares[[2, 5, 11]] == pytest.approx(1 / 3, abs=0.02)
