"""Environments whose steps take different times, and a vector environment that hands them back in any order."""

import os
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from garrison.vector import rows
from garrison.vector.backends.serial import SerialEnvs
from garrison.vector.base import Setup, merge


class Walk(gymnasium.Env[Any, Any]):
    """A random walk that actions push; a termination far out, a truncation at the end; forbids some actions by masks.

    Each step works for a while that is drawn, so that environments in workers get ready in another order every time.
    With a `grave` that does not exist yet, the third step digs it and kills the process.
    """

    observation_space = spaces.Box(-9, 9, (3,), np.float32)
    action_space = spaces.Discrete(4)

    def __init__(self, length: int = 7, work: int = 3000, grave: Path | None = None) -> None:
        self.length, self.work, self.grave = length, work, grave

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.t, self.place = 0, 0.0
        return self._observation(), {"action_mask": self._mask()}

    def step(self, action: Any) -> Any:
        sum(range(int(self.np_random.integers(1, 1 + self.work))))
        self.t += 1
        if self.grave is not None and self.t == 3 and not self.grave.exists():
            self.grave.touch()
            os._exit(1)
        self.place += float(action) - 1.5 + float(self.np_random.normal())
        terminated = abs(self.place) > 4.0
        truncated = not terminated and self.t >= self.length
        return self._observation(), self.place, terminated, truncated, {"action_mask": self._mask()}

    def _observation(self) -> Any:
        return np.array([self.place, self.t, self.np_random.normal()], np.float32)

    def _mask(self) -> NDArray[np.bool_]:
        mask = np.ones(4, np.bool_)
        mask[int(self.np_random.integers(4))] = False
        return mask


class Sighted(Walk):
    """Shows a picture beside its numbers."""

    observation_space = spaces.Dict(
        {"numbers": Walk.observation_space, "picture": spaces.Box(0, 255, (36, 36, 1), np.uint8)}
    )

    def _observation(self) -> Any:
        picture = self.np_random.integers(0, 256, (36, 36, 1), np.uint8)
        return {"numbers": super()._observation(), "picture": picture}


class AnyOrder(SerialEnvs):
    """`send` and `recv` in one process: what is in flight is stepped and returned in an order drawn with `seed`."""

    seed = 0

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.workers, self.batch_size = setup.workers, setup.batch_size
        self.random = np.random.default_rng(self.seed)
        self.in_flight: list[int] = []
        self.received: list[int] = []
        """How many environments each `recv` returned."""

    def send(self, actions: Any, env_ids: Any) -> None:
        assert not set(self.in_flight) & set(env_ids.tolist())
        self._buffers.actions[env_ids] = actions
        self.in_flight += env_ids.tolist()

    def recv(self, batch_size: int) -> Any:
        assert self.in_flight
        self.random.shuffle(self.in_flight)
        chosen, self.in_flight = self.in_flight[:batch_size], self.in_flight[batch_size:]
        self.received.append(len(chosen))
        entries = dict(self._group.step_some(chosen))
        infos = merge([(k, entries[i]) for k, i in enumerate(chosen) if i in entries], len(chosen))
        buffers, ids = self._buffers, np.array(chosen)
        results = buffers.rewards[ids], buffers.terminations[ids], buffers.truncations[ids]
        return rows.part_of(buffers.observations, ids), *results, infos, ids
