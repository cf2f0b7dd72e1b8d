"""The agent that sees everything: what it is shown, what it begins with, and how its runs are chosen from."""

import numpy as np
import torch

from garrison.bench.suites.truth_ceiling import (
    CeilingTraining,
    best_cells,
    ceiling_run,
    play_with_truth,
)
from garrison.bench.suites.truth_view import TruthView, true_bits
from garrison.cage2 import VectorEnv
from garrison.cage2.action_sets import ACTION_IDS
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


def test_playing_takes_the_likeliest_allowed_action_and_short_episodes_are_beginnings() -> None:
    envs = TruthView(30, red="meander", rules="head", autoreset_mode="Disabled")
    policy = policy_of(envs, PolicyConfig(), seed=3)
    returns = play_with_truth(policy, "meander", "head", episodes=30, seed=4)
    shown, _ = envs.reset(seed=np.random.SeedSequence((4, 100, 1)).generate_state(30, np.uint64).tolist())
    total = np.zeros(30)
    for step in range(50):
        logits = (
            policy((torch.from_numpy(shown).float(),))[0]
            .detach()
            .masked_fill(~torch.from_numpy(envs.action_masks()), -1e9)
        )
        shown, rewards, *_ = envs.step(logits.argmax(dim=1).numpy())
        total += rewards
        if step == 29:
            np.testing.assert_allclose(returns[0], total)
    np.testing.assert_allclose(returns[1], total)


def test_a_run_scores_every_cell_and_the_best_run_is_chosen_by_other_episodes() -> None:
    how = CeilingTraining(steps=1, envs=8, threads=1)
    run = ceiling_run("leaderboard", "bline", 0, how, episodes=20, fresh=5)
    assert [cell["length"] for cell in run["cells"]] == [30, 50, 100]
    assert all(cell["value"] < 0 < cell["margin"] for cell in run["cells"])
    lucky = {**run, "cells": [{**cell, "value": 0.0, "choosing": cell["choosing"] - 1} for cell in run["cells"]]}
    assert best_cells([lucky, run]) == run["cells"]
