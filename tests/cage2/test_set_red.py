"""`VectorEnv.set_red`: other attackers from the next episode on, as if the batch had been made with them."""

import numpy as np
import pytest

from garrison.cage2 import VectorEnv
from garrison.cage2.names import Red
from garrison.errors import UserError


def play(envs: VectorEnv, steps: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.array([envs.step(rng.integers(0, 145, envs.num_envs))[1].copy() for _ in range(steps)])


def test_it_waits_for_the_next_episode() -> None:
    envs = VectorEnv(8, red="bline", length=4, autoreset_mode="SameStep")
    envs.reset(seed=0)
    play(envs, 2)
    envs.set_red({"meander": 1.0})
    assert (envs.get_state()["red"] == Red.BLINE).all()
    play(envs, 2)
    assert (envs.get_state()["red"] == Red.MEANDER).all()


def test_a_changed_batch_draws_as_one_that_was_made_so() -> None:
    mixture = {"bline": 0.25, "meander": 0.75}
    made, changed = VectorEnv(64, red=mixture, length=6), VectorEnv(64, red="sleep", length=6)
    changed.set_red(mixture)
    for envs in (made, changed):
        envs.reset(seed=3)
    np.testing.assert_array_equal(play(made, 30), play(changed, 30))
    assert 0.5 < (made.get_state()["red"] == Red.MEANDER).mean() < 0.95


def test_copies_keep_it_and_a_name_is_a_mixture_of_one() -> None:
    envs = VectorEnv(4, length=3, autoreset_mode="SameStep")
    envs.set_red("sleep")
    envs.reset(seed=0)
    twin = envs.clone()
    envs.set_red("bline")
    play(twin, 3)
    play(envs, 3)
    assert (twin.get_state()["red"] == Red.SLEEP).all()
    assert (envs.get_state()["red"] == Red.BLINE).all()


@pytest.mark.parametrize(
    ("arguments", "red", "said"),
    [
        ({}, "blin", "did you mean 'bline'"),
        ({}, {"bline": 0.5}, "sum to 1"),
        ({}, "external", "unknown red"),
        ({"red": "external"}, "bline", "comes from outside"),
        ({"source": "cyborg"}, "bline", "as CybORG does"),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, str], red: str, said: str) -> None:
    envs = VectorEnv(2, **arguments)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=said):
        envs.set_red(red)
