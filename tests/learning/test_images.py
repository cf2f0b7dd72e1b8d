"""Learning from pictures and dictionaries: a convolution finds at once what dense layers hardly find."""

from functools import partial
from typing import Any

import pytest
from gymnasium.vector import AutoresetMode

from garrison import vector
from garrison.learn import A3CConfig, ImpalaConfig, PolicyConfig, PPOConfig, train
from garrison.learn.config import LearnerConfig
from tests.helpers.image_task import STEPS, FindShape

pytestmark = pytest.mark.long

CONVOLUTION = PolicyConfig(hidden=(64,), activation="relu", trunk="shared")
SETTINGS: dict[str, Any] = {"learning_rate": 2e-3, "gamma": 0.0, "entropy_coef": 0.0, "policy": CONVOLUTION}
LEARNERS: list[LearnerConfig] = [
    PPOConfig(steps=10_000, rollout=32, epochs=4, minibatches=4, threads=1, **SETTINGS),
    ImpalaConfig(steps=14_000, actors=0, rollout=32, epochs=4, minibatches=4, threads=1, **SETTINGS),
]
SOLVED, GUESSED = 0.9 * STEPS, 0.5 * STEPS


def make(num_envs: int, is_dict: bool = False) -> Any:
    return vector.make(
        partial(FindShape, is_dict=is_dict), num_envs, "serial", autoreset_mode=AutoresetMode.SAME_STEP, copy=False
    )


@pytest.mark.parametrize(
    ("config", "is_dict"), [(LEARNERS[0], False), (LEARNERS[1], True)], ids=["PPO-picture", "IMPALA-dictionary"]
)
def test_a_convolution_tells_shapes_apart_wherever_they_are(config: LearnerConfig, is_dict: bool) -> None:
    result = train(config, partial(make, is_dict=is_dict), 16)
    assert result.metrics["rollout/ep_reward_mean"] > SOLVED


def test_dense_layers_on_the_same_pixels_have_learned_little_by_then() -> None:
    config = PPOConfig(
        steps=10_000,
        rollout=32,
        epochs=4,
        minibatches=4,
        **{**SETTINGS, "policy": PolicyConfig(hidden=(64, 64), encoder="mlp")},
    )
    result = train(config, make, 16)
    assert GUESSED - 1 < result.metrics["rollout/ep_reward_mean"] < 0.75 * STEPS


def test_a3c_learns_from_pictures() -> None:
    result = train(A3CConfig(steps=24_000, actors=1, rollout=32, normalise_advantages="batch", **SETTINGS), make, 16)
    assert result.metrics["rollout/ep_reward_mean"] > GUESSED + 1
