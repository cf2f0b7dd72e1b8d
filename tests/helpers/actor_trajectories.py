"""What actors elsewhere deliver, compared with what an actor in this process collects."""

from collections.abc import Callable
from typing import Any

import numpy as np

from garrison.learn.actors.actor import Actor, ActorPlan, ActorSpec, actor_seed
from garrison.learn.actors.transport import Layout
from garrison.learn.config import PolicyConfig
from garrison.learn.envs import policy_of
from tests.helpers.processes import HANG

ENVS, STEPS, SEED = 2, 6, 4


def check_trajectories(make_envs: Callable[[int], Any], net: PolicyConfig, connect: Callable[[ActorPlan], Any]) -> Any:
    """Assert that one actor behind `connect` delivers two trajectories as they are collected here; return the last."""
    spec = ActorSpec(make_envs, ENVS, net, False, "autograd")
    seed = actor_seed(SEED, 0, ENVS)
    here = Actor(spec, seed)
    layout = Layout(policy_of(here.envs, net, seed=9), STEPS, ENVS, False)
    weights = layout.policy.flat.numpy()
    here.policy.flat.numpy()[:] = weights
    here.collector.reset(seed)
    transport = connect(ActorPlan(spec, layout, 1, 2, HANG, SEED))
    expected = layout.carve()
    try:
        transport.publish(weights, 0)
        for _ in range(2):
            here.fill(expected, 0)
            found = transport.receive(HANG)
            assert found is not None, transport.check()
            for name, array in vars(expected.rollout).items():
                assert np.array_equal(getattr(found.buffer.rollout, name), array), name
            transport.release(found)
    finally:
        transport.close()
        here.close()
    return expected.rollout
