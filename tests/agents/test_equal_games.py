"""Games that are the same from here on, and games that only look so."""

import numpy as np
import pytest

from garrison.agents import equal_games, load_agent
from garrison.agents.equal_games import PASSING, first_of_equal
from garrison.cage2 import VectorEnv

NOTHING = np.zeros((6, 1), np.uint8)


def played_states(seeds: list[int]) -> np.ndarray:
    envs = VectorEnv(len(seeds), red="meander", length=50)
    envs.reset(seed=seeds)
    for step in range(20):
        envs.step(np.full(len(seeds), 7 * step % 145))
    return envs.get_state()


def test_rows_are_matched_with_the_first_that_is_equal() -> None:
    kept, place = first_of_equal(played_states([1, 2, 1, 3, 2, 1]), NOTHING)
    assert sorted(kept) == [0, 1, 3]
    assert kept[place].tolist() == [0, 1, 0, 3, 1, 0]


@pytest.mark.parametrize("field", ["stream", "total", "access", "belief", "decoys", "bline_seen", "t"])
def test_a_difference_that_matters_keeps_games_apart(field: str) -> None:
    states = played_states([1] * 6)
    states[field][4:] += 1
    kept, place = first_of_equal(states, NOTHING)
    assert sorted(kept) == [0, 4]
    assert kept[place].tolist() == [0, 0, 0, 0, 4, 4]


def test_a_difference_in_memory_keeps_games_apart() -> None:
    kept, place = first_of_equal(played_states([1] * 6), np.array([[0], [1], [0], [1], [0], [2]], np.uint8))
    assert kept[place].tolist() == [0, 1, 0, 1, 0, 5]


def test_rows_that_only_share_a_digest_are_not_taken_for_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equal_games, "digests", lambda rows: np.zeros(len(rows), np.uint64))
    kept, place = first_of_equal(played_states([1, 2, 1, 3, 2, 1]), NOTHING)
    assert kept[place].tolist() == [0, 1, 0, 3, 4, 0]


@pytest.mark.parametrize("red", ["bline", "meander"])
def test_the_next_step_does_not_read_what_is_left_out(red: str) -> None:
    envs, others = (VectorEnv(145, red=red, length=50) for _ in range(2))
    envs.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(40):
        envs.step(rng.integers(145, size=145))
        states = envs.get_state()
        changed = states.copy()
        for name in PASSING:
            changed[name] = states[name][::-1]
        others.set_state(changed)
        actions = rng.permutation(145)
        envs.step(actions)
        others.step(actions)
        assert envs.get_state().tobytes() == others.get_state().tobytes()


def test_an_agent_that_draws_does_not_say_what_it_will_do() -> None:
    drawing, certain = load_agent("record", sample=True), load_agent("record")
    for agent in (drawing, certain):
        agent.begin(2)
        agent.act(np.zeros((2, 52), np.int8))
    assert drawing.memory() is None  # type: ignore[attr-defined]
    memory = certain.memory()  # type: ignore[attr-defined]
    assert memory[0].tolist() == memory[1].tolist()
    certain.took(np.array([3, 4]))  # type: ignore[attr-defined]
    memory = certain.memory()  # type: ignore[attr-defined]
    assert memory[0].tolist() != memory[1].tolist()
