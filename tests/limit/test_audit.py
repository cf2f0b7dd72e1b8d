"""The values held against the simulator: by defenders of all kinds, and by every action in the states they meet."""

from functools import cache

import numpy as np
import pytest

from garrison.agents import load_agent
from garrison.cage2 import VectorEnv
from garrison.cage2.names import NUM_ACTIONS
from garrison.limit.audit import Referee, audit
from garrison.limit.explore import explore_game
from garrison.limit.values import best_returns, value_table

pytestmark = pytest.mark.long  # the kernels take half a minute to compile

ROUNDING = 1e-9
STEPS = {"bline": 16, "meander": 9}
GAMES = [("leaderboard", "bline"), ("head", "bline"), ("leaderboard", "meander"), ("head", "meander")]


@cache
def referee(rules: str, red: str) -> Referee:
    game = explore_game(rules, red, STEPS[red], listed=3)
    return Referee(game, value_table(game, STEPS[red]))


@pytest.mark.parametrize("agent", [None, "record", "react-restore", "random"])
@pytest.mark.parametrize(("rules", "red"), GAMES)
def test_no_defender_has_more_than_the_bound_on_any_draws(rules: str, red: str, agent: str | None) -> None:
    found = audit(referee(rules, red), agent and load_agent(agent), STEPS[red], episodes=400, seed=3)
    assert found.excess < ROUNDING
    assert found.penalised.max() < found.bound + ROUNDING
    margin = 4 * found.penalties.std() / np.sqrt(400)
    assert abs(found.penalties.mean()) < margin + ROUNDING  # martingale differences: knowing no draws, nobody gains


@pytest.mark.parametrize("rules", ["leaderboard", "head"])
def test_against_bline_the_bound_is_reached_by_who_sees_the_truth(rules: str) -> None:
    found = audit(referee(rules, "bline"), None, STEPS["bline"], episodes=400, seed=4)
    assert found.bound < -1
    assert found.penalised.min() > found.bound - 0.005  # what is left is the gift of old process ids


@pytest.mark.parametrize(("rules", "red"), GAMES)
def test_no_action_at_all_is_better_than_the_values_say(rules: str, red: str) -> None:
    judge, steps = referee(rules, red), STEPS[red]
    envs = VectorEnv(60, red=red, rules=rules, length=steps, autoreset_mode="Disabled")
    envs.reset(seed=5)
    players = [load_agent("record"), load_agent("random")]
    for player in players:
        player.begin(60, seed=1)
    observations = np.zeros((60, 52), np.int8)
    for left in range(steps, 1, -1):
        choices = [player.act(observations) for player in players]
        observations, *_ = envs.step(np.where(np.arange(60) % 2, *choices))
        if left - 1 not in (1, 2, 5):
            continue
        states = envs.get_state()
        values = judge.values(states, left - 1)
        going = ~np.isnan(values)
        every = [judge.means(states[going], np.full(going.sum(), a), left - 1) for a in range(NUM_ACTIONS)]
        best = np.max(every, axis=0)
        assert np.all(best < values[going] + ROUNDING)
        if red == "bline":
            assert np.all(best > values[going] - 0.005)
    envs.close()


def test_longer_episodes_cost_more_and_the_first_steps_nothing() -> None:
    game = referee("head", "bline").game
    returns = best_returns(game, STEPS["bline"])
    assert list(returns[:3]) == [0, 0, 0]
    assert np.all(np.diff(returns[2:]) < 0)
