"""Every space survives its description, also through a file; what no space is like is refused with a sentence."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from garrison.agents.spaces import SpaceAgent
from garrison.errors import UserError
from garrison.learn.config import PolicyConfig
from garrison.learn.nn.description import build_space, describe_policy, describe_space
from garrison.learn.nn.policy import Policy
from garrison.storage import checkpoint
from garrison.storage.saved_run import require_agent
from tests.helpers.mutations import mutated
from tests.helpers.steering_env import PARTS

SPACES = [
    spaces.Box(np.array([-np.inf, -1.0, 0.0]), np.array([np.inf, 0.5, np.inf]), dtype=np.float64),
    spaces.Box(-0.1, 0.3, (2, 2), np.float16),
    spaces.Box(0, 255, (3, 4, 4), np.uint8),
    spaces.Box(0, 60_000, (2,), np.uint16),
    spaces.Discrete(5, start=-2),
    spaces.Discrete(3, dtype=np.int32),
    spaces.MultiDiscrete(np.array([[2, 3], [4, 5]]), start=np.array([[1, 0], [0, 7]])),
    spaces.MultiDiscrete([3, 4], dtype=np.int16),
    spaces.MultiBinary((2, 3)),
    PARTS,
    spaces.Dict([("z", spaces.Discrete(2)), ("a", spaces.Tuple((PARTS, spaces.Box(-1, 1, (1,)))))]),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_a_space_survives_a_file(space: spaces.Space[Any], tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "file", {"space": describe_space(space)})
    built = build_space(checkpoint.load(tmp_path / "file")["space"])
    assert built == space
    assert built.dtype == space.dtype
    if isinstance(space, spaces.Dict):
        assert list(built.spaces) == list(space.spaces)  # type: ignore[attr-defined]


def test_a_space_that_cannot_be_described_says_so() -> None:
    for space in (spaces.Text(3), spaces.Dict({1: spaces.Discrete(2)}), spaces.Tuple((spaces.Text(3),))):
        with pytest.raises(UserError, match="cannot describe the space"):
            describe_space(space)


def agent_values(action_space: spaces.Space[Any]) -> dict[str, Any]:
    observation_space, config = spaces.Box(-1.0, 1.0, (2,), np.float32), PolicyConfig(hidden=(8,))
    weights = Policy(observation_space, action_space, config).flat.numpy()
    return {
        "experiment": {"env": {"env": "Mine-v0"}, "ppo": {}},
        "policy": describe_policy(config, observation_space, action_space),
        "state": {"weights": weights},
    }


HOSTILE: list[dict[str, Any]] = [
    {"kind": "Dict", "keys": ["a"], "parts": []},
    {"kind": "Dict", "keys": ["a", "a"], "parts": [describe_space(spaces.Discrete(2))] * 2},
    {"kind": "Dict", "keys": [3], "parts": [describe_space(spaces.Discrete(2))]},
    {"kind": "Tuple", "parts": []},
    {"kind": "Tuple", "parts": [{"kind": "Tuple", "parts": "Discrete"}]},
    {"kind": "Box", "low": np.zeros(2), "high": np.ones(2), "dtype": "object"},
    {"kind": "Box", "low": np.array([np.inf]), "high": np.array([np.inf]), "dtype": "float32"},
    {"kind": "Box", "low": np.array([1e300]), "high": np.array([1e300]), "dtype": "float32"},
    {"kind": "Box", "low": np.array([np.nan]), "high": np.array([1.0]), "dtype": "float32"},
    {"kind": "Box", "low": np.array([0]), "high": np.array([300]), "dtype": "uint8"},
    {"kind": "Box", "low": np.array([0.0]), "high": np.array([1.0]), "dtype": "int8"},
    {"kind": "Discrete", "n": 300, "start": 0, "dtype": "int8"},
    {"kind": "Discrete", "n": 3, "start": 0, "dtype": "float32"},
    {"kind": "MultiDiscrete", "nvec": np.array([3]), "start": np.array([126]), "dtype": "int8"},
]


@pytest.mark.parametrize("space", HOSTILE, ids=lambda space: f"{space['kind']}")
def test_what_no_space_is_like_is_refused(space: dict[str, Any]) -> None:
    values = agent_values(spaces.Discrete(2))
    values["policy"]["action_space"] = space
    with pytest.raises(UserError, match=r"policy\.action_space must be a description of a space"):
        require_agent(values, "x")


def test_spaces_in_one_another_end_somewhere() -> None:
    values, space = agent_values(spaces.Discrete(2)), describe_space(spaces.Discrete(2))
    for _ in range(100):
        space = {"kind": "Tuple", "parts": [space]}
    values["policy"]["action_space"] = space
    with pytest.raises(UserError, match="must be a description of a space"):
        require_agent(values, "x")


def test_a_space_that_needs_more_than_the_weights_is_refused_before_memory_is_taken() -> None:
    values = agent_values(spaces.Discrete(2))
    large = {"kind": "Discrete", "n": 10**12, "start": 0}
    values["policy"]["action_space"] = {"kind": "Dict", "keys": ["a"], "parts": [{"kind": "Tuple", "parts": [large]}]}
    with pytest.raises(UserError, match="larger network than its"):
        require_agent(values, "x")


@pytest.mark.parametrize("space", [PARTS, SPACES[0]], ids=["parts", "box"])
def test_every_wrong_policy_plays_or_is_one_sentence(space: spaces.Space[Any]) -> None:
    values, random = agent_values(space), Random(0)
    refused = 0
    for _ in range(150):
        what, wrong = mutated({"policy": values["policy"]}, random)
        try:
            require_agent(values | wrong, "x")
            agent = SpaceAgent(values | wrong, "x", sample=True)
            agent.begin(2)
            agent.act(np.zeros((2, 2), np.float32))
        except UserError:
            refused += 1
        except Exception as error:
            raise AssertionError(f"{what}: {error!r}") from error
    assert refused > 50
