"""The policy of a run on any environment, played: without torch as with it, the likeliest action or a drawn one."""

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

from garrison.agents.forward import PlainNetwork, TorchNetwork, network_of
from garrison.agents.spaces import SpaceAgent
from garrison.learn.config import PolicyConfig
from garrison.learn.nn.description import build_policy, describe_policy
from garrison.learn.spaces.registry import action_distribution
from tests.helpers.learning import random_policy
from tests.helpers.steering_env import PARTS

SHOWN = spaces.Box(-1.0, 1.0, (3,), np.float32)
ACTIONS: dict[str, spaces.Space[Any]] = {
    "box": spaces.Box(-1.0, 1.0, (2,), np.float32),
    "switches": spaces.MultiBinary(3),
    "parts": PARTS,
}


def values_of(space: spaces.Space[Any], **config: Any) -> dict[str, Any]:
    policy = random_policy(SHOWN, space, **config)
    return {
        "experiment": {"env": {"env": "Mine-v0"}, "ppo": {}},
        "policy": describe_policy(PolicyConfig(**config), SHOWN, space),
        "state": {"weights": policy.flat.numpy()},
    }


@pytest.mark.parametrize("trunk", ["separate", "shared"])
@pytest.mark.parametrize("name", ACTIONS)
def test_numpy_computes_what_torch_computes(name: str, trunk: str) -> None:
    values = values_of(ACTIONS[name], hidden=(8, 4), trunk=trunk)
    plain = network_of(values["policy"], values["state"]["weights"])
    assert isinstance(plain, PlainNetwork)
    rows = np.random.default_rng(0).normal(0, 1, (20, 3)).astype(np.float32)
    starts = np.ones(20, np.bool_)
    theirs = TorchNetwork(build_policy(values["policy"], values["state"]["weights"])).logits(rows, starts)
    np.testing.assert_allclose(plain.logits(rows, starts), theirs, atol=1e-5)


@pytest.mark.parametrize("continuous", ["gaussian", "squashed"])
def test_continuous_agents_take_the_middle_or_draw_around_it(continuous: str) -> None:
    space = ACTIONS["box"]
    values = values_of(space, hidden=(8,), continuous_actions=continuous, log_std_init=-2.0)
    shown = np.repeat(np.array([[0.1, -0.2, 0.3]], np.float32), 2000, axis=0)
    greedy, drawn = SpaceAgent(values, "x"), SpaceAgent(values, "x", sample=True)
    for agent in (greedy, drawn):
        agent.begin(2000, seed=3)
    middle, around = greedy.act(shown), drawn.act(shown)
    assert (middle == middle[0]).all()
    assert len(np.unique(around)) > 3000
    np.testing.assert_allclose(np.median(around, axis=0), middle[0], atol=0.02)
    assert all(space.contains(action) for action in around)
    drawn.begin(2000, seed=3)
    assert np.array_equal(drawn.act(shown), around)


@pytest.mark.parametrize("recurrent_size", [0, 4])
def test_agents_play_actions_in_parts_with_masks(recurrent_size: int) -> None:
    values = values_of(PARTS, hidden=(8,), recurrent_size=recurrent_size)
    values["experiment"]["ppo"]["action_masks"] = True
    agent = SpaceAgent(values, "x", sample=True)
    assert agent.masked
    agent.begin(50)
    masks = np.ones((50, action_distribution(PARTS).mask_size), np.bool_)
    masks[:, 5:7] = False  # of the first tool only its lowest value is left
    actions = agent.act(torch.zeros(50, 3).numpy(), masks)
    assert (actions["tools"][0] == -1).all()
    assert PARTS.contains(
        {key: part[0] if key != "tools" else tuple(p[0] for p in part) for key, part in actions.items()}
    )
