"""Pictures and dictionaries over Ray: what arrives is what serial environments and actors in this process give."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
from gymnasium.vector import AutoresetMode

import garrison.vector
from garrison.cluster.ray_transport import Remote
from garrison.learn import PolicyConfig, PPOConfig
from garrison.learn.ppo import train as train_ppo
from garrison.runs import default_preset, train
from tests.helpers.actor_trajectories import check_trajectories
from tests.helpers.image_task import FindShape
from tests.helpers.learning import Log

pytestmark = pytest.mark.usefixtures("local_ray")

NET = PolicyConfig(hidden=(16,), activation="relu", trunk="encoder")
KINDS = pytest.mark.parametrize("is_dict", [False, True], ids=["picture", "dictionary"])


def make(num_envs: int, is_dict: bool, backend: str = "serial") -> Any:
    env = partial(FindShape, is_dict=is_dict)
    workers = 2 if backend == "ray" else None
    return garrison.vector.make(env, num_envs, backend, workers=workers, autoreset_mode=AutoresetMode.SAME_STEP)


@KINDS
def test_ppo_learns_over_ray_what_it_learns_in_sequence(is_dict: bool) -> None:
    config = PPOConfig(steps=192, rollout=16, epochs=2, minibatches=2, threads=1, policy=NET)
    returns, weights = [], []
    for backend in ("serial", "ray"):
        envs, log = make(6, is_dict, backend), Log()
        weights.append(train_ppo(config, envs, run=log).policy.flat.numpy())
        envs.close()
        returns.append([metrics["rollout/ep_reward_mean"] for metrics in log.metrics])
    assert returns[0] == returns[1]  # the same actions were drawn
    # Whoever is ready is asked together: sums over other batches are rounded otherwise.
    np.testing.assert_allclose(weights[0], weights[1], atol=1e-4)


@KINDS
def test_a_trajectory_through_the_object_store_is_that_of_an_actor_here(is_dict: bool) -> None:
    rollout = check_trajectories(partial(make, is_dict=is_dict), NET, Remote)
    assert np.ptp(rollout.observations) > 100


@KINDS
@pytest.mark.parametrize("algorithm", ["ppo", "impala"])
def test_a_run_is_trained_and_scored(algorithm: str, is_dict: bool, tmp_path: Path) -> None:
    env = "tests.helpers.image_task:FindShape"
    where = {"backend": "ray", "workers": 2} if algorithm == "ppo" else {"cluster": "local", "actors": 1}
    tiny: dict[str, Any] = {"steps": 128, "envs": 4, "rollout": 16, "hidden": (8,), "threads": 1}
    experiment = default_preset(env, algorithm, env_args={"is_dict": is_dict}).changed(**tiny, **where)
    outcome = train(experiment.changed(evaluate_episodes=4, tensorboard=False), out=tmp_path / "run", progress=False)
    assert outcome.status == "finished"
    assert outcome.summary["evaluation"]["episodes"] == 4
    assert ray.is_initialized()  # a run leaves a Ray that was there before it
