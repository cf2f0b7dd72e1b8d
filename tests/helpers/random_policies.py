"""Policies with weights as large as trained ones, and batches that are not their own."""

from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from garrison.learn.config import PolicyConfig
from garrison.learn.nn.autograd import AutogradNetwork
from garrison.learn.nn.policy import Policy
from garrison.learn.nn.sampling import make_streams
from garrison.learn.rollout import Batch, Rollout


def random_policy(observation_space: spaces.Space[Any], action_space: spaces.Space[Any], **config: Any) -> Policy:
    policy = Policy(observation_space, action_space, PolicyConfig(**config), seed=1)
    generator = torch.Generator().manual_seed(2)
    # Trained weights are not small: widen the logits, move the biases.
    policy.flat.add_(0.2 * torch.randn(len(policy.flat), generator=generator))
    return policy


def random_batch(policy: Policy, steps: int, num_envs: int, masked: bool) -> Batch:
    """Collected by a slightly different policy, so that some ratios and values lie outside their clips."""
    random = np.random.default_rng(3)
    rollout = Rollout.allocate(steps, num_envs, policy.observations, policy.actions, masked)
    policy.observations.space.seed(4)
    shown = np.stack([policy.observations.space.sample() for _ in range((steps + 1) * num_envs)])
    policy.observations.store(shown, rollout.observations.reshape(-1, *policy.observations.shape))
    if masked:
        rollout.masks[:] = random.random(rollout.masks.shape) < 0.5
        for offset in policy.actions.offsets[:-1]:
            rollout.masks[:, :, offset] = True
    network = AutogradNetwork(policy, num_envs, 1)
    weights = policy.flat.clone()
    policy.flat.add_(0.03 * torch.randn(len(weights), generator=torch.Generator().manual_seed(5)))
    streams = make_streams(6, num_envs)
    for t in range(steps):
        network.act(
            rollout.observations[t],
            rollout.starts[t],
            rollout.masks[t] if masked else np.ones((0, 0), np.bool_),
            streams,
            rollout.indices[t],
            rollout.log_probs[t],
            rollout.values[t],
        )
    policy.flat.copy_(weights)
    advantages = random.normal(1.0, 3.0, (steps, num_envs)).astype(np.float32)
    return Batch.of(rollout, advantages, policy.initial_state(num_envs))
