"""How long the default policy takes to choose actions for a batch."""

import time
from typing import Any

import numpy as np
from gymnasium import Space

from garrison.errors import UserError
from garrison.system import require


def infer(observation_space: Space[Any], action_space: Space[Any], num_envs: int, seconds: float) -> dict[str, Any]:
    """Return the seconds of one choice for `num_envs` environments, and what computed it; or why it is not known."""
    try:
        require("torch")
    except UserError as error:
        return {"skipped": str(error)}
    from garrison.learn.nn.network import make_network
    from garrison.learn.nn.policy import Policy
    from garrison.learn.nn.sampling import make_streams

    try:
        policy = Policy(observation_space, action_space)
    except UserError as error:
        return {"skipped": str(error)}
    network = make_network(policy, num_envs, "auto", 1)
    observations, actions = policy.observations, policy.actions
    shown = np.zeros((num_envs, *observations.shape), observations.dtype)
    starts = np.zeros(num_envs, np.bool_)
    choices = np.zeros((num_envs, *actions.shape), actions.dtype)
    log_probs, values = np.zeros(num_envs, np.float32), np.zeros(num_envs, np.float32)
    given = shown, starts, np.ones((0, 0), np.bool_), make_streams(0, num_envs), choices, log_probs, values
    times: list[float] = []
    until = 0.0
    try:
        while len(times) < 20 or time.perf_counter() < until:
            begun = time.perf_counter()
            network.act(*given)
            actions.to_env(choices)
            times.append(time.perf_counter() - begun)
            until = until or time.perf_counter() + seconds  # the first may compile
    finally:
        network.close()
    widths = "-".join(map(str, policy.config.hidden))
    how = "compiled" if network.compute == "compiled" else "torch"
    return {"seconds": float(np.median(times)), "network": f"two towers {widths} tanh, {how}, one thread"}
