"""A shipped agent is a run's checkpoint without the learner's state, with what made it and what it scored."""

import json
from pathlib import Path

import numpy as np
import pytest

from garrison.agents import load_agent
from garrison.agents.forward import network_of
from garrison.agents.load import SHIPPED
from garrison.agents.ship import ship, without_critic
from garrison.cage2 import VectorEnv
from garrison.learn.config import PolicyConfig
from garrison.learn.envs import extras_space, policy_of
from garrison.learn.nn.description import describe_policy
from garrison.storage import checkpoint


@pytest.mark.parametrize(("name", "keeps_critic"), [("record-1", True), ("record", False)])
def test_a_run_becomes_an_agent_that_plays_the_same(name: str, keeps_critic: bool, tmp_path: Path) -> None:
    known = checkpoint.load(SHIPPED[name])
    run = tmp_path / "run"
    run.mkdir()
    state = known["state"] | {"adam": np.zeros(3)}
    checkpoint.save(run / checkpoint.NAME, known | {"state": state})
    (run / "summary.json").write_text(json.dumps({"evaluation": known["evaluation"] | {"cells": []}}))
    command = ["garrison", "train", "record", "--out", str(run), "--seed", "1"]
    (run / "versions.json").write_text(json.dumps({"command": command}))
    ship(run, tmp_path / "agents" / "copy.garrison")
    copy = checkpoint.load(tmp_path / "agents" / "copy.garrison")
    assert set(copy) == set(known)
    assert set(copy["state"]) == {"weights", "steps"}
    assert np.array_equal(copy["state"]["weights"], known["state"]["weights"]) == keeps_critic
    shown = np.random.default_rng(0).integers(0, 2, (50, 52))
    played = []
    for file in (SHIPPED[name], tmp_path / "agents" / "copy.garrison"):
        agent = load_agent(str(file))
        agent.begin(50)
        played.append(agent.act(shown))
    np.testing.assert_array_equal(*played)
    assert copy["made_by"] == "garrison train record --seed 1"
    assert copy["evaluation"] == known["evaluation"]
    assert copy["experiment"]["run"]["out"] == ""


@pytest.mark.parametrize("normalise", [False, True])
def test_nothing_is_left_of_a_critic_that_saw_more(normalise: bool, tmp_path: Path) -> None:
    config = PolicyConfig(hidden=(16,), critic_extras=("access",), normalise_observations=normalise)
    envs = VectorEnv(3, autoreset_mode="NextStep")
    policy = policy_of(envs, config, seed=4)
    spaces = envs.single_observation_space, envs.single_action_space
    known = checkpoint.load(SHIPPED["record"])
    learner = known["experiment"]["ppo"] | {"policy": {"trunk": "separate", "critic_extras": ["access"]}}
    values = known | {
        "experiment": known["experiment"] | {"ppo": learner},
        "policy": describe_policy(config, *spaces, extras_space(envs, config.critic_extras)),
        "state": {"weights": policy.flat.numpy(), "steps": 7},
    }
    plain = without_critic(values)
    assert "extras_space" not in plain["policy"]
    assert plain["policy"]["config"]["critic_extras"] == []
    assert plain["experiment"]["ppo"]["policy"] == {"trunk": "shared", "critic_extras": []}
    critic = sum(p.numel() for p in policy.critic.parameters())
    statistics = 2 * 13 if normalise else 0  # of access; bits are not scaled
    assert len(plain["state"]["weights"]) == len(policy.flat) - critic - statistics
    shown, _ = envs.reset(seed=0)
    logits = []
    for each in (values, plain):
        network = network_of(each["policy"], each["state"]["weights"])
        network.begin(3)
        logits.append(network.logits(shown.astype(np.float32), np.ones(3, np.bool_)))
    np.testing.assert_array_equal(*logits)
