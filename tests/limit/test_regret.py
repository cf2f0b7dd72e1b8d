"""Regrets: their sum is what a defender falls short, they hold no luck of the draws, and an episode ends them."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from garrison.agents import load_agent
from garrison.cage2.names import ACTIONS, BlueKind
from garrison.errors import UserError
from garrison.limit.explore import explore_game, telling_actions
from garrison.limit.regret import Regret, regret_share
from garrison.limit.regret_env import RegretEnv
from garrison.limit.solved_games import LOST_STEPS, lost_values, protocol_lengths, step_weights
from garrison.limit.values import best_returns, value_table, weighted_values

STEPS = 9
REDS = {"bline": 0.4, "meander": 0.4, "sleep": 0.2}


@cache
def regret(rules: str) -> Regret:
    return Regret(rules, REDS, STEPS, threads=2)


def make_envs(rules: str, num_envs: int, **settings: object) -> RegretEnv:
    return RegretEnv(regret(rules), num_envs, **{"rules": rules, "length": STEPS, "red": REDS, **settings})


def test_steps_count_for_every_length_that_reaches_them() -> None:
    assert step_weights(protocol_lengths(50)).tolist() == [2.0] * 30 + [1.0] * 20
    assert step_weights(protocol_lengths(20)).tolist() == [1.0] * 20
    assert step_weights(protocol_lengths(100)).sum() == 180
    assert lost_values(np.ones(12)).tolist() == [-10, -10, -10, -9, -8, -7, -6, -5, -4, -3, -2, -1, 0]
    assert LOST_STEPS == 10


@pytest.mark.long
@pytest.mark.parametrize("rules", ["leaderboard", "head"])
@pytest.mark.parametrize("name", ["record", "react-restore"])
def test_a_return_is_the_best_return_and_the_regrets_in_the_mean(rules: str, name: str) -> None:
    envs, agent = make_envs(rules, 4000), load_agent(name)
    observations, _ = envs.reset(seed=3)
    agent.begin(4000)
    who = envs.truth.red.copy()
    returns, regrets = np.zeros(4000), np.zeros(4000)
    for _ in range(STEPS):
        observations, rewards, terminations, truncations, _ = envs.step(agent.act(observations))
        returns += rewards
        regrets += envs.learning_rewards
    assert terminations.all()
    assert not truncations.any()
    for code, red in enumerate(REDS):
        here = who == code
        best = regret(rules).at_the_start.get(red, 0.0)
        luck = returns[here] - regrets[here]
        assert abs(luck.mean() - best) < 4 * luck.std() / np.sqrt(here.sum()) + 1e-5
        assert regrets[here].max() < 1e-4
    envs.close()


@pytest.mark.long
def test_a_regret_is_the_same_whatever_is_drawn_and_who_plays_beside() -> None:
    envs = make_envs("head", 300)
    envs.reset(seed=1)
    for _ in range(4):
        envs.step(np.random.default_rng(0).integers(145, size=300))
    states = envs.get_state()
    action = np.full(300, 2 + 13 + 9)
    found, own = regret("head").of(states, action)
    other = states.copy()
    other["stream"] = np.random.default_rng(1).integers(1, 2**32, other["stream"].shape, np.uint32)
    for rows in (np.arange(300), np.array([7]), np.arange(299, -1, -1)):
        again, own_again = regret("head").of(other[rows], action[rows])
        assert np.array_equal(again, found[rows])
        assert np.array_equal(own_again, own[rows])
    assert (own[states["red"] == 2] == 1).all()
    envs.close()


@pytest.mark.long
def test_against_bline_somebody_who_sees_the_truth_regrets_nothing() -> None:
    envs = make_envs("leaderboard", 200, red="bline")
    envs.reset(seed=2)
    for _ in range(STEPS):
        states = envs.get_state()
        every = np.array([regret("leaderboard").of(states, np.full(200, a.id))[0] for a in ACTIONS])
        assert np.abs(every.max(axis=0)).max() < 2e-3  # what is left is the gift of old process ids
        envs.step(every.argmax(axis=0))
    envs.close()


@pytest.mark.long
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_nothing_is_learned_from_a_step_that_only_resets(mode: str) -> None:
    envs = make_envs("head", 20, red="bline", autoreset_mode=mode)
    envs.reset(seed=0)
    restore = next(a.id for a in ACTIONS if a.kind == BlueKind.RESTORE)
    for step in range(STEPS + 1):
        envs.step(np.full(20, restore))
        resets = mode == "NextStep" and step == STEPS
        assert np.all((envs.learning_rewards == 0) == resets)
    envs.close()


@pytest.mark.long
def test_copies_of_some_environments_say_what_they_lose() -> None:
    envs = make_envs("head", 6, red="bline")
    envs.reset(seed=0)
    twin = envs.clone([4, 4, 1])
    for batch in (envs, twin):
        batch.step(np.full(batch.num_envs, 2 + 13 * 10 + 9))
    assert twin.learning_rewards.tolist() == envs.learning_rewards[[4, 4, 1]].tolist()
    with pytest.raises(UserError, match=r"has no rollout\(\)"):
        envs.rollout([0])
    envs.close()


@pytest.mark.long
def test_the_first_step_compiles_nothing() -> None:
    envs = make_envs("head", 4)
    envs.reset(seed=0)
    compiled: Any = regret_share
    before = list(compiled.signatures)
    envs.step(np.zeros(4, np.int64))
    assert before
    assert compiled.signatures == before
    envs.close()


@pytest.mark.long
@pytest.mark.parametrize(("red", "listed"), [("bline", 0), ("meander", 0), ("meander", 2)])
def test_actions_that_tell_find_what_all_find(red: str, listed: int) -> None:
    steps = 7 if red == "meander" else 12
    every = explore_game("leaderboard", red, steps, listed)
    some = explore_game("leaderboard", red, steps, listed, actions=telling_actions(red, listed))
    assert some.size == every.size
    assert set(zip(some.firsts, some.seconds, strict=True)) == set(zip(every.firsts, every.seconds, strict=True))
    assert np.array_equal(best_returns(some, steps), best_returns(every, steps))


@pytest.mark.long
def test_weights_of_one_give_the_values_of_the_bound() -> None:
    game = explore_game("head", "bline", 8)
    plain = value_table(game, 8).values
    assert np.allclose(weighted_values(game, np.ones(8)), plain[::-1], atol=1e-5)
    twice = weighted_values(game, np.array([2.0] * 5 + [1.0] * 3))
    assert np.allclose(twice[5:], plain[3::-1], atol=1e-5)
    assert twice[0, 0] < plain[8, 0] < 0


def test_what_nobody_has_solved_is_named() -> None:
    with pytest.raises(UserError, match="not against random_red"):
        Regret("head", ["bline", "random_red"], 10)
    with pytest.raises(UserError, match="up to 100 steps; got 101"):
        Regret("head", ["bline"], 101)
