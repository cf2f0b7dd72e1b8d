"""Presets on other environments than CAGE-2: each trains for an update, and has the settings that it is known for."""

from typing import Any

import pytest

from garrison.registration import CAGE2, CAGE2_RED
from garrison.runs import PRESETS, preset, train
from tests.helpers.installed import needs_atari, needs_mujoco, needs_procgen

NEEDS = {"coinrun": needs_procgen, "pong": needs_atari, "hopper": needs_mujoco, "halfcheetah": needs_mujoco}
NEEDS["walker"] = needs_mujoco
TINY: dict[str, dict[str, Any]] = {
    "ppo": {"epochs": 1, "minibatches": 2, "threads": 1},
    "impala": {"actors": 0, "epochs": 1, "minibatches": 1, "threads": 1},
}
TRIED_ELSEWHERE = (CAGE2, CAGE2_RED, "CartPole-v1")
OTHERS = [name for name, (_, experiment) in PRESETS.items() if experiment.env.env not in TRIED_ELSEWHERE]


@pytest.mark.parametrize("name", [pytest.param(name, marks=NEEDS.get(name.partition("-")[2], ())) for name in OTHERS])
def test_a_preset_trains_for_an_update(name: str) -> None:
    experiment = preset(name)
    settings = TINY[experiment.algorithm] | {"steps": 16, "envs": 2, "rollout": 8, "backend": "serial", "hidden": (16,)}
    outcome = train(experiment.changed(**settings), progress=False)
    assert outcome.status == "finished"
    assert outcome.result is not None
    assert outcome.result.steps == 16


def test_coinrun_is_the_job_that_its_users_ran() -> None:
    experiment: Any = preset("ppo-coinrun")
    learner, policy = experiment.learner, experiment.learner.policy
    assert experiment.env.envs * learner.rollout == learner.minibatches * 1024
    assert (policy.encoder, policy.trunk, policy.hidden) == ("nature", "encoder", (512,))
    assert (learner.learning_rate, learner.gamma, learner.gae_lambda, learner.epochs) == (5e-4, 0.999, 0.95, 4)
