"""Compile the kernels that tests use, before tests run side by side: `python -m tests.helpers.warm`.

Without it every worker of `pytest -n 2` would compile them for itself.
"""

from functools import partial
from typing import Any

import numpy as np

import garrison.vector
import tests.conftest  # noqa: F401 - its settings decide which machine code is kept
from garrison.agents import load_agent
from garrison.belief import Belief
from garrison.cage2 import VectorEnv
from garrison.cage2.turns import Turns
from garrison.challenge.evaluation import evaluate
from garrison.learn import ImpalaConfig, PolicyConfig, PPOConfig, impala, ppo
from garrison.limit.regret import Regret
from garrison.limit.regret_env import RegretEnv
from garrison.limit.solved_games import Outlook
from tests.helpers.bits_env import BitsEnv

SMALL: dict[str, Any] = {"steps": 200, "rollout": 25, "compute": "compiled", "policy": PolicyConfig(hidden=(16,))}
CAGE2 = partial(VectorEnv, length=10, autoreset_mode="SameStep")


def warm() -> None:
    """Train and play a little, with every kind of input that has machine code of its own."""
    ppo.train(PPOConfig(minibatches=2, **SMALL), CAGE2(4))
    ppo.train(PPOConfig(minibatches=2, action_masks=True, **SMALL), CAGE2(4, observation="memory"))
    ppo.train(PPOConfig(minibatches=2, **SMALL), garrison.vector.make("CartPole-v1", 4, "serial"))
    impala.train(ImpalaConfig(actors=0, epochs=2, **SMALL), BitsEnv, 4)
    for batch in (CAGE2(2, threads=2), CAGE2(2, source="cyborg")):
        batch.reset(seed=0)
        batch.rollout([0])
    Turns()
    for agent in ("record", "record-head"):
        evaluate(load_agent(agent), episodes=2, lengths=[5])
    Belief().update(0, np.zeros(52, np.int8))
    envs = RegretEnv(Regret("head", ["bline", "meander"], 3), 2, red={"bline": 0.5, "meander": 0.5}, length=3)
    envs.reset(seed=0)
    envs.step(np.zeros(2, np.int64))
    Outlook("head", (3,)).of(envs.get_state(), 1)
    evaluate(load_agent("sleep"), episodes=2, reds=["red-vs-react-restore"], lengths=[5])


if __name__ == "__main__":
    warm()
