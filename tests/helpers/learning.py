"""What tests of learners share: run logs, a way to compare states, policies and batches with random numbers."""

from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from garrison.learn import RunLog
from garrison.learn.config import PolicyConfig
from garrison.learn.nn.autograd import AutogradNetwork
from garrison.learn.nn.policy import Policy
from garrison.learn.nn.sampling import make_streams
from garrison.learn.rollout import Rollout, TrainingBatch
from tests.helpers.bits_env import BitsEnv
from tests.helpers.processes import descendants


class Log(RunLog):
    """Keeps everything; stops after `updates` updates."""

    def __init__(self, updates: int = 10**9) -> None:
        self.updates = updates
        self.metrics: list[dict[str, float]] = []
        self.steps: list[int] = []
        self.states: list[dict[str, Any]] = []

    @property
    def stop(self) -> bool:
        return len(self.metrics) >= self.updates

    def log(self, step: int, metrics: dict[str, float]) -> None:
        self.steps.append(step)
        self.metrics.append(metrics)

    def checkpoint(self, state: dict[str, Any]) -> None:
        self.states.append(state)


class Talking(Log):
    """Also keeps what is said."""

    def __init__(self, updates: int = 10**9) -> None:
        super().__init__(updates)
        self.said: list[str] = []
        self.family: set[int] = set()

    def log(self, step: int, metrics: dict[str, float]) -> None:
        super().log(step, metrics)
        self.family |= descendants()

    def say(self, text: str) -> None:
        self.said.append(text)


class Poisoned(BitsEnv):
    def step(self, actions: Any) -> Any:
        shown, rewards, *rest = super().step(actions)
        rewards[3] = np.nan
        return shown, rewards, *rest


def same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def random_policy(observation_space: spaces.Space[Any], action_space: spaces.Space[Any], **config: Any) -> Policy:
    policy = Policy(observation_space, action_space, PolicyConfig(**config), seed=1)
    generator = torch.Generator().manual_seed(2)
    # Trained weights are not small: widen the logits, move the biases.
    policy.flat.add_(0.2 * torch.randn(len(policy.flat), generator=generator))
    return policy


def random_batch(policy: Policy, steps: int, num_envs: int, masked: bool) -> TrainingBatch:
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
            rollout.choices[t],
            rollout.log_probs[t],
            rollout.values[t],
        )
    policy.flat.copy_(weights)
    advantages = random.normal(1.0, 3.0, (steps, num_envs)).astype(np.float32)
    return TrainingBatch.of(rollout, advantages, policy.initial_state(num_envs))
