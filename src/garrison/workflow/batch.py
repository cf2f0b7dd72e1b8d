"""Environments that follow workflows, as the settings describe them."""

from typing import Any

from garrison.cage2 import VectorEnv
from garrison.runs.experiment import EnvConfig
from garrison.workflow.settings import WorkflowConfig


def spread(orders: list[int], num_envs: int) -> list[int]:
    """Give every environment an order, each order the same number of environments, or one more.

    >>> spread([7, 9], 5)
    [7, 9, 7, 9, 7]
    """
    return [orders[k % len(orders)] for k in range(num_envs)]


def make_batch(
    env: EnvConfig,
    workflow: WorkflowConfig,
    orders: list[int],
    *,
    autoreset_mode: str = "SameStep",
) -> VectorEnv:
    """Make environments, one for each of `orders`."""
    odds = env.red_odds
    red: Any = odds if len(odds) > 1 else next(iter(odds))
    return VectorEnv(
        len(orders),
        red=red,
        rules=env.rules,
        length=env.length,
        encoder=env.encoder,
        observation=env.observation,
        actions=env.actions,
        autoreset_mode=autoreset_mode,
        workflow=workflow.workflow(orders),
    )
