"""Masks that an agent derives from its own actions equal those of the environment."""

import numpy as np
import pytest

from garrison.agents.masks import ActionMasks
from garrison.cage2 import VectorEnv


@pytest.mark.parametrize("rules", ["head", "leaderboard"])
def test_masks_follow_the_environment_through_random_play_and_resets(rules: str) -> None:
    random = np.random.default_rng(0)
    envs = VectorEnv(64, red={"bline": 0.5, "meander": 0.5}, rules=rules, length=37, autoreset_mode="SameStep")
    envs.reset(seed=0)
    masks = ActionMasks(64)
    placed = 0
    for _ in range(150):
        assert np.array_equal(masks.allowed(), envs.action_masks())
        actions = random.integers(145, size=64)
        decoys = random.random(64) < 0.7
        actions[decoys] = random.integers(28, 132, size=int(decoys.sum()))
        masks.follow(actions)
        _, _, _, truncations, _ = envs.step(actions)
        placed += int((envs.truth.decoys.sum(axis=(1, 2)) > 3).sum())
        masks.reset(truncations)
    assert placed > 1000
