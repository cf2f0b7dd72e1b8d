"""Environments whose costs are known: they sleep, and count how long that really took."""

import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from garrison.vector.timing.cost_model import Load
from garrison.vector.timing.parts import BINS, Distribution, bins_of


def uneven_load(mean: float, spread: float) -> Load:
    """Return steps of this mean in seconds, log-normally spread."""
    times = mean * np.random.default_rng(0).lognormal(-(spread**2) / 2, spread, 2000)
    counts = np.bincount(bins_of((1e9 * times).astype(np.int64)), minlength=BINS)
    return Load(mean, steps=Distribution(counts))


class Sleeper(gymnasium.Env[Any, Any]):
    """Sleeps in step, reset and an extra; episodes of `length` steps; observations count."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self, step: float = 0.0, reset: float = 0.0, extra: float = 0.0, length: int = 1000, render_mode: Any = None
    ) -> None:
        self.observation_space = spaces.Box(-1e6, 1e6, (3,), np.float32)
        self.action_space = spaces.Discrete(4)
        self.render_mode = render_mode
        self.costs = step, reset, extra
        self.length = length
        self.t = 0
        self.extras = {"hidden": self.hidden}
        self.spent = {"compute": 0.0, "reset": 0.0, "extras": 0.0}

    def nap(self, part: str, seconds: float) -> None:
        begun = time.perf_counter()
        if seconds:
            time.sleep(seconds)  # longer than asked for when the machine is busy
        self.spent[part] += time.perf_counter() - begun

    def hidden(self) -> Any:
        self.nap("extras", self.costs[2])
        return np.array([self.t, -self.t], np.int16)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.nap("reset", self.costs[1])
        self.t = 0
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.nap("compute", self.costs[0])
        self.t += 1
        info = {"t": self.t} if self.t % 3 == 0 else {}
        return self.seen(), float(action) + self.t, self.t >= self.length, False, info

    def seen(self) -> Any:
        return np.append(self.np_random.random(2), self.t).astype(np.float32)


class Threaded(Sleeper):
    """Computes with threads of its own, as math libraries do."""

    def __init__(self, threads: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.threads = threads
        self.pool: ThreadPoolExecutor | None = None

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.pool = self.pool or ThreadPoolExecutor(self.threads)
        list(self.pool.map(zlib.crc32, [bytes(4_000_000)] * self.threads))  # outside Python's lock
        return super().step(action)

    def close(self) -> None:
        if self.pool is not None:
            self.pool.shutdown()


def uneven(workers: int, each: int, slow: float, quick: float) -> list[Any]:
    """The first worker's environments are slow, the others quick."""
    return [partial(Sleeper, step=slow)] * each + [partial(Sleeper, step=quick)] * each * (workers - 1)


def quick_env(**kwargs: Any) -> Sleeper:
    """What the command's tests profile: `tests.helpers.known_costs:quick_env`."""
    return Sleeper(step=0.0005, reset=0.001, length=5, **kwargs)  # short: some episodes end on a busy machine too
