"""The defender that acts by the game's values: what it weighs, with how many steps left, and whether that is right."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from garrison.agents import load_agent, value_agent
from garrison.agents.belief_book import BeliefBook
from garrison.agents.value_agent import ValueAgent
from garrison.belief import BeliefSettings
from garrison.cage2 import VectorEnv
from garrison.cage2.names import NUM_ACTIONS, Red
from garrison.limit.audit import Referee
from garrison.limit.explore import explore_game
from garrison.limit.values import value_table
from garrison.limit.weighing import ActionValues

FAVOURITES = {"bline": 20, "meander": 30}
SECOND = 40


class Fake:
    """Likes one action best and a second one nearly as much; notes what it is asked."""

    def __init__(self, red: str) -> None:
        self.red, self.asked = red, []  # type: str, list[list[int]]

    def weigh(self, states: NDArray[np.void], lefts: NDArray[np.int64]) -> NDArray[np.float64]:
        assert (states["red"] == getattr(Red, self.red.upper())).all()
        self.asked.append(lefts.tolist())
        worth = np.full((len(states), NUM_ACTIONS), -5.0)
        worth[:, FAVOURITES[self.red]], worth[:, SECOND] = -1.0, -1.2
        return worth


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> dict[str, Fake]:
    made = {red: Fake(red) for red in FAVOURITES}
    monkeypatch.setattr(value_agent, "action_values", lambda rules, red: made[red])
    return made


def test_while_it_does_not_know_who_attacks_it_takes_what_is_good_against_both(fakes: dict[str, Fake]) -> None:
    agent = load_agent("record-values")
    envs = VectorEnv(8, red=["bline"] * 4 + ["meander"] * 4, rules="leaderboard", length=100)
    observations, _ = envs.reset(seed=1)
    agent.begin(8)
    taken = []
    for _ in range(60):
        taken.append(agent.act(observations))
        observations = envs.step(taken[-1])[0]
    assert (taken[0] == SECOND).all()
    assert (taken[-1] == [FAVOURITES["bline"]] * 4 + [FAVOURITES["meander"]] * 4).all()
    asked = fakes["meander"].asked
    assert asked[0] == [30, 50, 100]
    assert [20, 70] in asked
    assert asked[-1] == [41]


def test_it_forgets_at_a_reset_and_plays_as_the_network_where_all_is_the_same(fakes: dict[str, Fake]) -> None:
    agent = ValueAgent(load_agent("record-head"))
    envs = VectorEnv(2, red="sleep", rules="head", length=100)
    observations, _ = envs.reset(seed=1)
    agent._book = BeliefBook("head", "challenge", BeliefSettings(prior={"sleep": 1.0}))
    agent.begin(2)
    network = load_agent("record-head")
    network.begin(2)
    np.testing.assert_array_equal(agent.act(observations), network.act(observations))
    agent.reset(np.array([True, False]))
    agent.act(observations)
    assert agent._book.clocks.tolist() == [0, 1]


@pytest.mark.long
def test_what_an_action_is_worth_is_what_the_bounds_values_say() -> None:
    game = explore_game("head", "bline", 100)
    referee = Referee(game, value_table(game, 100))
    values: Any = ActionValues.__new__(ActionValues)
    values._turns = referee.table.turns.astype(np.float32)
    values._facts, values._keys = referee._facts, referee._keys
    envs = VectorEnv(100, red="bline", rules="head", length=100)
    envs.reset(seed=5)
    random = np.random.default_rng(6)
    for left in (100, 99, 60, 20):
        states = envs.get_state()
        worth = values.weigh(states, np.array([left]))
        np.testing.assert_allclose(worth.max(axis=1), referee.values(states, left), atol=1e-4)
        rows = np.arange(100)
        np.testing.assert_allclose(worth[rows, referee.best_actions(states, left)], worth.max(axis=1), atol=1e-4)
        both = values.weigh(states, np.array([left, 10]))
        np.testing.assert_allclose(both, (worth + values.weigh(states, np.array([10]))) / 2, atol=1e-4)
        for _ in range(4):
            envs.step(random.integers(NUM_ACTIONS, size=100))
