"""An environment with CAGE-2's shapes whose step costs a known amount of *work*.

Work, not time: a loop that watches the clock "works" while another process has its core, and so flatters whatever
starts more processes than there are cores. The loop here is calibrated once, then its length is fixed.

The work is done in C, on two kilobytes. A loop of Python statements took from 4 to 13 % more or less in one process
than in the next, on the same quiet core, for as long as each lived: by where its code and its objects happened to lie.
Checksums differ by half a percent, so that what rows differ by is theirs.
"""

import time
import zlib
from functools import cache
from itertools import repeat
from statistics import NormalDist
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

OBSERVATIONS = 52
ACTIONS = 145
LENGTH = 100
DRAWS = 1024
CALIBRATION_PAUSE = 0.07
"""Seconds."""
BLOCK = bytes(2048)
"""What a round works on; of more than 5 KiB zlib would let go of the GIL."""


def spin(rounds: int) -> int:
    """Keep the interpreter busy for so many rounds, holding the GIL; return the checksum of as many blocks."""
    check = 0
    for _ in repeat(None, rounds):
        check = zlib.crc32(BLOCK, check)
    return check


def rounds_per_second() -> float:
    """Measure how many rounds the quickest of some tries does in a second, with a pause before each of them.

    Others on the same machine slow a core down for tens of milliseconds: tries in a row would all meet the same ones.
    """
    rounds = 5_000
    best = float("inf")
    for _ in range(15):
        time.sleep(CALIBRATION_PAUSE)
        begun = time.perf_counter()
        spin(rounds)
        best = min(best, time.perf_counter() - begun)
    return rounds / best


@cache
def _factors() -> NDArray[np.float64]:
    """Return log-normal factors of mean 1, spread evenly over the distribution.

    Every environment has the same ones in an order of its own: drawn at random, a thousand of them would sum up to some
    hundredths more work in one environment than in the next.
    """
    normal = NormalDist()
    factors = np.exp(np.array([normal.inv_cdf((k + 0.5) / DRAWS) for k in range(DRAWS)]))
    return np.asarray(factors / factors.mean())


class Synthetic(gymnasium.Env[Any, Any]):
    """52 floats, 145 actions, episodes of 100 steps; each step spins for `rounds`, or log-normally around them."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as in Gymnasium

    def __init__(self, rounds: int = 0, uneven: bool = False, render_mode: str | None = None) -> None:
        self.observation_space = spaces.Box(-1.0, 1.0, (OBSERVATIONS,), np.float32)
        self.action_space = spaces.Discrete(ACTIONS)
        self.render_mode = render_mode
        self._rounds = rounds
        self._uneven = uneven
        self._draws = [rounds]
        self._observation = np.zeros(OBSERVATIONS, np.float32)
        self._t = self._k = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; uneven costs are drawn here so that a step costs nothing but its rounds."""
        super().reset(seed=seed)
        if self._uneven and (seed is not None or len(self._draws) == 1):
            self._draws = (self.np_random.permutation(_factors()) * self._rounds).astype(int).tolist()
        self._t = 0
        return self._observation, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Spin, and count."""
        if self._rounds:
            self._k = k = (self._k + 1) % len(self._draws)
            spin(self._draws[k])
        self._t = t = self._t + 1
        return self._observation, 1.0, False, t >= LENGTH, {}
