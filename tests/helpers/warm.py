"""Compile the kernels that tests use, before tests run side by side: `python -m tests.helpers.warm`.

Without it every worker of `pytest -n 2` would compile them for itself.
"""

from functools import partial
from typing import Any

import tests.conftest  # noqa: F401 - its settings decide which machine code is kept
from garrison.cage2 import VectorEnv
from garrison.learn import ImpalaConfig, PolicyConfig, PPOConfig, impala, ppo
from tests.helpers.bits_env import BitsEnv

SMALL: dict[str, Any] = {"steps": 200, "rollout": 25, "compute": "compiled", "policy": PolicyConfig(hidden=(16,))}
CAGE2 = partial(VectorEnv, length=10, autoreset_mode="SameStep")


def warm() -> None:
    """Train a little: on both forms of observations, with and without masks, on- and off-policy."""
    ppo.train(PPOConfig(minibatches=2, **SMALL), CAGE2(4))
    ppo.train(PPOConfig(minibatches=2, action_masks=True, **SMALL), CAGE2(4, observation="memory"))
    impala.train(ImpalaConfig(actors=0, **SMALL), BitsEnv, 4)


if __name__ == "__main__":
    warm()
