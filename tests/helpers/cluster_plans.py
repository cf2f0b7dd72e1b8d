"""What the tests of IMPALA's actors on Ray start, in this process or in a driver of its own."""

from collections.abc import Callable
from typing import Any

import garrison.vector
from garrison.cluster.ray_transport import Remote
from garrison.learn.actors.actor import ActorPlan, ActorSpec
from garrison.learn.actors.transport import Layout
from garrison.learn.config import PolicyConfig
from garrison.learn.envs import policy_of

NET = PolicyConfig(hidden=(16,))


def carts(n: int, env: Any = "CartPole-v1") -> Any:
    return garrison.vector.make(env, n, "serial")


def plan(make_envs: Callable[[int], Any] = carts, **changes: Any) -> ActorPlan:
    given = {"actors": 2, "buffers": 2, "timeout": 60.0, "seed": 0} | changes
    envs = make_envs(1)
    layout = Layout(policy_of(envs, NET), 8, 4, False)
    return ActorPlan(ActorSpec(make_envs, 4, NET, False, "autograd"), layout, **given)


def receive(transport: Remote, seconds: float = 60.0) -> Any:
    trajectory = transport.receive(seconds)
    assert trajectory is not None, transport.check()
    return trajectory
