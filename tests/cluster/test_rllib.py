"""RLlib's current API stack on the compiled batch: it is stepped as one, and PPO and IMPALA train on it."""

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import garrison.cluster.rllib
from garrison.cage2.vector_env import VectorEnv

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "examples"))
pytestmark = [
    pytest.mark.usefixtures("local_ray"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # RLlib's own
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def test_a_batch_or_one_as_rllib_asks() -> None:
    batch = garrison.cluster.rllib.make({"num_envs": 3, "red": "meander", "length": 5})
    one = garrison.cluster.rllib.make({"red": "meander", "length": 5})
    assert isinstance(batch.unwrapped, VectorEnv)
    assert batch.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP  # what RLlib's runners count on
    assert batch.single_observation_space == one.observation_space
    assert batch.single_observation_space.dtype == np.float32
    kept, _ = batch.reset(seed=0)
    before = kept.copy()
    alone, _ = one.reset(seed=0)
    assert (alone == kept[0]).all()
    rewards = [batch.step(np.zeros(3, int))[1] for _ in range(5)]
    assert (kept == before).all()  # RLlib keeps what it is given
    assert len({id(r) for r in rewards}) == 5


def test_ppo_trains_and_its_runner_steps_the_batch() -> None:
    import rllib_ppo

    settings = rllib_ppo.config(runners=0, envs=8).training(train_batch_size_per_learner=400, minibatch_size=128)
    algorithm = settings.env_runners(rollout_fragment_length="auto").build_algo()
    batch = algorithm.env_runner.env.unwrapped
    assert isinstance(batch, VectorEnv)
    assert batch.num_envs == 8
    results = [algorithm.train() for _ in range(2)]
    check(results)
    assert results[-1]["env_runners"]["num_env_steps_sampled_lifetime"] >= 800
    algorithm.stop()


def test_impala_trains_with_a_runner_of_its_own() -> None:
    import rllib_impala

    settings = rllib_impala.config(runners=1, envs=8).training(train_batch_size_per_learner=200)
    algorithm = settings.reporting(min_time_s_per_iteration=1).build_algo()
    results = [algorithm.train() for _ in range(3)]
    while not results[-1]["env_runners"].get("num_episodes_lifetime"):
        results.append(algorithm.train())
    check(results)
    algorithm.stop()


def check(results: list[dict[str, Any]]) -> None:
    score = results[-1]["env_runners"]["episode_return_mean"]
    assert score < 0  # a cost, of an attacker that met little defence
    assert math.isfinite(results[-1]["learners"]["default_policy"]["total_loss"])
