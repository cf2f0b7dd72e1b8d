"""Actor processes that play real games: pictures arrive as they were seen, and learners with actors train on them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from garrison.learn.actors.local import Local
from garrison.learn.config import PolicyConfig
from garrison.learn.envs import policy_of
from garrison.runs import default_preset, train
from garrison.storage import checkpoint
from garrison.tasks.registry import EnvConfig, task_of
from tests.helpers.actor_trajectories import ENVS, check_trajectories
from tests.helpers.installed import needs_atari, needs_procgen

GAMES = [pytest.param("procgen-coinrun-v0", marks=needs_procgen), pytest.param("ALE/Breakout-v5", marks=needs_atari)]


@pytest.mark.parametrize("env", GAMES)
@pytest.mark.parametrize("backend", ["native", "serial"])
def test_a_trajectory_from_another_process_is_that_of_an_actor_here(env: str, backend: str) -> None:
    make_envs = task_of(EnvConfig(env=env, envs=ENVS, backend=backend)).make_envs
    rollout = check_trajectories(make_envs, PolicyConfig(hidden=(8,), trunk="encoder"), Local)
    assert np.ptp(rollout.observations) > 100


@pytest.mark.long
@pytest.mark.parametrize("env", GAMES)
@pytest.mark.parametrize("algorithm", ["impala", "a3c"])
def test_learners_with_actors_train_on_games(env: str, algorithm: str, tmp_path: Path) -> None:
    tiny: dict[str, Any] = {"envs": ENVS, "actors": 2, "rollout": 8, "hidden": (8,), "steps": 64, "seed": 1}
    experiment = default_preset(env, algorithm).changed(**tiny, evaluate_episodes=0, tensorboard=False)
    outcome = train(experiment, out=tmp_path / "run", progress=False)
    assert outcome.status == "finished"
    state = checkpoint.load(tmp_path / "run")["state"]
    assert state["steps"] >= 64
    assert state["updates"] >= 2
    envs = task_of(experiment.env).make_envs(1)
    begun = policy_of(envs, experiment.learner.policy, seed=1)
    envs.close()
    assert state["weights"].shape == begun.flat.shape
    assert not np.array_equal(state["weights"], begun.flat.numpy())
