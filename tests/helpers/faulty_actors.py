"""Trainings with actors, and environments that break one of them; importable by processes of any start method."""

import os
import signal
import time
from pathlib import Path
from typing import Any

from garrison.learn import a3c, impala
from garrison.learn.config import A3CConfig, ImpalaConfig, PolicyConfig
from garrison.learn.result import Result
from tests.helpers.bits_env import BitsEnv


class FaultyOnce(BitsEnv):
    """Does what `fault` says in its 40th step, unless another one has done it before: then `marker` exists."""

    def __init__(self, num_envs: int, fault: str, marker: Path) -> None:
        super().__init__(num_envs, length=10)
        self.fault, self.marker, self.count = fault, marker, 0

    def step(self, actions: Any) -> Any:
        self.count += 1
        if self.count == 40:
            try:
                self.marker.touch(exist_ok=False)
            except FileExistsError:
                return super().step(actions)
            if self.fault == "raise":
                raise ValueError("the dragon woke up")
            if self.fault == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            while True:
                time.sleep(60)
        return super().step(actions)


def train_impala(make_envs: Any, log: Any, steps: int = 20_000, timeout: float = 60.0) -> Result:
    config = ImpalaConfig(
        steps=steps,
        actors=2,
        rollout=25,
        threads=1,
        actor_timeout=timeout,
        compute="autograd",  # starts sooner
        policy=PolicyConfig(hidden=(16,)),
    )
    return impala.train(config, make_envs, 20, log)


def train_a3c(make_envs: Any, log: Any, steps: int = 20_000, timeout: float = 60.0) -> Result:
    config = A3CConfig(
        steps=steps,
        actors=2,
        rollout=25,
        actor_timeout=timeout,
        compute="autograd",
        policy=PolicyConfig(hidden=(16,)),
    )
    return a3c.train(config, make_envs, 20, log)


TRAINERS = {"impala": (train_impala, "actor"), "a3c": (train_a3c, "actor")}
