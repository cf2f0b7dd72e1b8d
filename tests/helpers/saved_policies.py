"""Checkpoints of policies that nobody has trained, for any spaces."""

from pathlib import Path
from typing import Any

import torch
from gymnasium import spaces

from garrison.learn.config import PolicyConfig
from garrison.learn.nn.description import describe_policy
from garrison.learn.nn.policy import Policy
from garrison.storage import checkpoint


def save_policy(
    path: Path,
    observation_space: spaces.Space[Any],
    action_space: spaces.Space[Any],
    masked: bool = False,
    extras_space: spaces.Dict | None = None,
    **config: Any,
) -> Path:
    """Write a checkpoint of a policy with weights so large that no two of its logits are nearly the same."""
    settings = PolicyConfig(**{"hidden": (16, 16), **config})
    policy = Policy(observation_space, action_space, settings, extras_space=extras_space)
    drawn = 0.4 * torch.randn(len(policy.flat), generator=torch.Generator().manual_seed(1))
    drawn[policy.statistics()] = drawn[policy.statistics()].abs() + 0.5
    values = {
        "experiment": {
            "preset": "none",
            "env": {"env": "my_module:MyEnv"},
            "run": {},
            "ppo": {"action_masks": masked, "seed": 3},
        },
        "policy": describe_policy(settings, observation_space, action_space, extras_space),
        "state": {"weights": drawn, "steps": 1000},
    }
    checkpoint.save(path, values)
    return path
