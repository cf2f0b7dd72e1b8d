"""All that an update runs, once, on made-up numbers: what must be compiled is compiled before the clock starts."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.learn.nn.adam import Adam
from garrison.learn.nn.epoch import Stride
from garrison.learn.nn.loss import Terms
from garrison.learn.nn.network import Network
from garrison.learn.nn.sampling import make_streams
from garrison.learn.rollout import Rollout, TrainingBatch

STEPS = 2


def rehearse(network: Network, num_envs: int, masked: bool, estimate: Callable[[Rollout], NDArray[np.float32]]) -> None:
    """Act, estimate advantages and learn; nothing that the training depends on is changed.

    `estimate` returns the advantages of a rollout.
    """
    policy, memory = network.policy, network.recurrent_state.clone()
    rollout = Rollout.allocate(STEPS, num_envs, policy.observations, policy.actions, masked)
    rollout.masks[:] = True
    masks: NDArray[Any] = rollout.masks[0] if masked else np.ones((0, 0), np.bool_)
    out = rollout.choices[0], rollout.log_probs[0], rollout.values[0]
    network.act(rollout.observations[0], rollout.starts[0], masks, make_streams(0, num_envs), *out)
    network.values(rollout.observations[0], np.arange(num_envs))
    network.evaluate(rollout, memory)
    batch = TrainingBatch.of(rollout, estimate(rollout), memory)
    (rows,) = batch.minibatches(1, policy.is_recurrent, np.random.default_rng(0))
    weights = policy.flat.clone()
    network.learn(batch, [rows], Terms(0.2, 0.0, 0.5, 0.01), Adam(policy.flat), Stride(0.0, 0.0, normalises=False))
    policy.flat.copy_(weights)
    network.recurrent_state = memory
