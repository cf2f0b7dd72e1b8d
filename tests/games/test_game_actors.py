"""Actor processes that play real games: pictures arrive as they were seen, and learners with actors train on them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from garrison.learn.actors.actor import Actor, ActorPlan, ActorSpec, actor_seed
from garrison.learn.actors.local import Local
from garrison.learn.actors.transport import Layout
from garrison.learn.config import PolicyConfig
from garrison.learn.envs import policy_of
from garrison.runs import default_preset, train
from garrison.storage import checkpoint
from garrison.tasks.registry import EnvConfig, task_of
from tests.helpers.installed import needs_atari, needs_procgen
from tests.helpers.processes import HANG

GAMES = [pytest.param("procgen-coinrun-v0", marks=needs_procgen), pytest.param("ALE/Breakout-v5", marks=needs_atari)]
NET = PolicyConfig(hidden=(8,), trunk="encoder")
ENVS, STEPS, SEED = 2, 6, 4


@pytest.mark.parametrize("env", GAMES)
@pytest.mark.parametrize("backend", ["native", "serial"])
def test_a_trajectory_from_another_process_is_that_of_an_actor_here(env: str, backend: str) -> None:
    make_envs = task_of(EnvConfig(env=env, envs=ENVS, backend=backend)).make_envs
    spec = ActorSpec(make_envs, ENVS, NET, False, "autograd")
    seed = actor_seed(SEED, 0, ENVS)
    here = Actor(spec, seed)
    layout = Layout(policy_of(here.envs, NET, seed=9), STEPS, ENVS, False)
    weights = layout.policy.flat.numpy()
    here.policy.flat.numpy()[:] = weights
    here.collector.reset(seed)
    transport = Local(ActorPlan(spec, layout, 1, 2, HANG, SEED))
    try:
        transport.publish(weights, 0)
        for _ in range(2):
            expected = layout.carve()
            here.fill(expected, 0)
            found = transport.receive(HANG)
            assert found is not None, transport.check()
            for name, array in vars(expected.rollout).items():
                assert np.array_equal(getattr(found.buffer.rollout, name), array), name
        assert np.ptp(expected.rollout.observations) > 0
    finally:
        transport.close()
        here.close()


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
