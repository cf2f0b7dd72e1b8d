"""Environments that misbehave on order; importable by workers of any start method."""

import os
import signal
import time
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Faulty(gymnasium.Env[Any, Any]):
    """Steps normally until action 1 is taken by the environment that has a `fault`."""

    def __init__(self, fault: str = "", length: int = 100) -> None:
        self.observation_space = spaces.Box(-1, 1000, (2,), np.float32)
        self.action_space = spaces.Discrete(2)
        self.fault = fault
        self.length = length
        self.t = 0
        if fault == "raise in making":
            raise RuntimeError("no such scenario")
        if fault == "die in making":
            os._exit(3)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.t = 0
        if self.fault == "raise in reset" and (options or {}).get("now"):
            raise RuntimeError("reset is broken")
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.t += 1
        result = self._observation(), 1.0, False, self.t >= self.length, {}
        return self._misbehave(result) if action == 1 and self.fault else result

    def _observation(self) -> Any:
        return np.array([self.t, 0], np.float32)

    def _misbehave(self, result: Any) -> Any:
        if self.fault == "raise":
            raise ValueError("the dragon woke up")
        if self.fault == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fault == "exit":
            os._exit(7)
        if self.fault == "stuck":
            while True:
                time.sleep(60)
        if self.fault == "spin":
            while True:
                pass
        if self.fault == "wrong shape":
            return np.zeros(3, np.float32), *result[1:]
        if self.fault == "wrong type":
            return np.zeros(2, np.complex64), *result[1:]
        if self.fault == "four values":
            return result[:4]
        if self.fault == "info none":
            return *result[:4], None
        raise AssertionError(self.fault)
