"""The agent that sees everything: what it is shown, what it begins with, and how its runs are chosen from."""

import numpy as np
import pytest

from garrison.agents import load_agent
from garrison.bench.suites.truth_ceiling import (
    CeilingTraining,
    best_cells,
    ceiling_run,
    copy_actor,
    play_with_truth,
)
from garrison.bench.suites.truth_view import TruthView, true_bits
from garrison.cage2 import VectorEnv
from garrison.cage2.action_sets import ACTION_IDS
from garrison.challenge.evaluation import evaluate
from garrison.learn import PolicyConfig
from garrison.learn.envs import policy_of

NUM_COMPACT = len(ACTION_IDS["compact"])


def test_what_it_sees_tells_every_state_apart_that_truth_tells_apart() -> None:
    envs = TruthView(64, red={"bline": 0.5, "meander": 0.5}, length=30, autoreset_mode="SameStep")
    plain = VectorEnv(
        64,
        red={"bline": 0.5, "meander": 0.5},
        length=30,
        observation="memory",
        actions="compact",
        autoreset_mode="SameStep",
    )
    shown, _ = envs.reset(seed=1)
    expected, _ = plain.reset(seed=1)
    random = np.random.default_rng(2)
    for _ in range(60):
        np.testing.assert_array_equal(shown[:, : expected.shape[1]], expected)
        np.testing.assert_array_equal(shown[:, expected.shape[1] :], true_bits(plain.get_state()))
        actions = random.integers(NUM_COMPACT, size=64)
        shown, expected = envs.step(actions)[0], plain.step(actions)[0]
    assert set(np.unique(shown)) == {0, 1}
    hidden = true_bits(plain.get_state())
    access = plain.truth.access
    np.testing.assert_array_equal(hidden[:, :13], access == 1)
    np.testing.assert_array_equal(hidden[:, 13:26], access == 2)


@pytest.mark.parametrize(("name", "rules"), [("record", "leaderboard"), ("record-head", "head")])
def test_it_begins_as_the_shipped_agent(name: str, rules: str) -> None:
    envs = TruthView(2, red="meander", rules=rules)
    policy = policy_of(envs, PolicyConfig(), seed=3)
    copy_actor(name, policy)
    returns = play_with_truth(policy, "meander", rules, episodes=200, seed=4)
    cell = evaluate(load_agent(name), rules, 200, seed=4, reds=["meander"], lengths=[100]).cells[0]
    assert returns[2].mean() == pytest.approx(cell.mean, abs=1e-9)  # the same episodes, the same choices


def test_a_run_scores_every_cell_and_the_best_run_is_chosen_by_other_episodes() -> None:
    how = CeilingTraining(steps=1, critic_steps=1, envs=8, threads=1)
    run = ceiling_run("record", "leaderboard", 0, how, episodes=20, fresh=5)
    assert [(cell["red"], cell["length"]) for cell in run["cells"]] == [
        (red, length) for red in ("bline", "meander") for length in (30, 50, 100)
    ]
    assert all(cell["value"] < 0 < cell["margin"] for cell in run["cells"])
    lucky = {**run, "cells": [{**cell, "value": 0.0, "choosing": cell["choosing"] - 1} for cell in run["cells"]]}
    for red, cells in (("bline", run["cells"][:3]), ("meander", run["cells"][3:]), ("sleep", [])):
        assert best_cells([lucky, run], red) == cells
