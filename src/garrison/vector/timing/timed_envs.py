"""Vector environments that account for their time: beside each backend's class one with `Timed` in front of it.

They are classes of their own so that a backend that does not account for its time has nothing to ask.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from garrison.vector.backends.async_ import AsyncEnvs, Ready
from garrison.vector.backends.joint import JointEnvs
from garrison.vector.backends.native import NativeEnvs
from garrison.vector.backends.pipes import PipeEnvs
from garrison.vector.backends.serial import SerialEnvs
from garrison.vector.backends.shared import SharedEnvs
from garrison.vector.backends.threads import ThreadedEnvs
from garrison.vector.base import BatchedEnvs, EnvInfo, Step
from garrison.vector.buffers import Buffers
from garrison.vector.extras import Cadences
from garrison.vector.group import Entries, Options, Seeds
from garrison.vector.timing.parts import BINS, CELLS, COMPUTE, EXTRAS, RESET, RESETS, TimeLedger, Times, bin_of, clock


class Timed(BatchedEnvs):
    """Measures its calls, and within them the time that the groups are at work."""

    def _describe(self, info: EnvInfo, buffers: Buffers) -> None:
        super()._describe(info, buffers)
        self._ledger = TimeLedger(buffers.times, buffers.counts, is_alone=self.backend == "serial")
        self._inside = 0

    @property
    def times(self) -> Times:
        """Where the time of all calls so far went."""
        return self._ledger.read()

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | Sequence[dict[str, Any] | None] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Reset all environments, or those in `options["reset_mask"]`."""
        begun = clock()
        self._inside = 0
        try:
            return super().reset(seed=seed, options=options)
        finally:
            self._ledger.call(clock() - begun, self._inside)

    def step(self, actions: Any) -> Step:
        """Step every environment: observations, rewards, terminations, truncations, infos."""
        begun = clock()
        self._inside = 0
        try:
            return super().step(actions)
        finally:
            self._ledger.call(clock() - begun, self._inside)

    def _reset(self, chosen: NDArray[np.intp], seeds: Seeds, options: Options) -> Entries:
        begun = clock()
        try:
            return super()._reset(chosen, seeds, options)  # type: ignore[safe-super]
        finally:
            self._inside = clock() - begun

    def _step(self) -> Entries:
        begun = clock()
        try:
            return super()._step()  # type: ignore[safe-super]
        finally:
            self._inside = clock() - begun


class TimedSerialEnvs(Timed, SerialEnvs):
    """`serial`, with an account of its time."""


class TimedThreadedEnvs(Timed, ThreadedEnvs):
    """`threads`, with an account of its time."""


class TimedPipeEnvs(Timed, PipeEnvs):
    """`pipes`, with an account of its time."""


class TimedSharedEnvs(Timed, SharedEnvs):
    """`shared`, with an account of its time."""


class TimedJointEnvs(Timed, JointEnvs):
    """`joint`, with an account of its time."""


class TimedAsyncEnvs(Timed, AsyncEnvs):
    """Accounts for `send` and `recv` as well."""

    @property
    def times(self) -> Times:
        """Where the time of all calls so far went."""
        self._ledger.attribute()
        return self._ledger.read()

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | Sequence[dict[str, Any] | None] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Reset all environments, or those in `options["reset_mask"]`."""
        self._ledger.close()
        return super().reset(seed=seed, options=options)

    def step(self, actions: Any) -> Step:
        """Step every environment: observations, rewards, terminations, truncations, infos."""
        self._ledger.close()
        return super().step(actions)

    def send(self, actions: Any, env_ids: NDArray[Any] | Sequence[int] | None = None) -> None:
        """Start a step of the given environments (all by default) and return at once."""
        begun = clock()
        self._ledger.open()
        self._inside = 0
        try:
            super().send(actions, env_ids)
        finally:
            self._ledger.loose_call(clock() - begun, self._inside)

    def recv(self, batch_size: int | None = None) -> Ready:
        """Wait for the first `batch_size` environments and return their step's results."""
        begun = clock()
        self._ledger.open()
        self._inside = 0
        try:
            return super().recv(batch_size)
        finally:
            self._ledger.loose_call(clock() - begun, self._inside)

    def _start(self, ids: NDArray[np.intp]) -> None:
        begun = clock()
        super()._start(ids)
        self._inside += clock() - begun

    def _take_in(self) -> None:
        begun = clock()
        try:
            super()._take_in()
        finally:
            self._inside += clock() - begun


class TimedNativeEnvs(NativeEnvs):
    """A compiled batch is one call: all of it is compute, resets of ended episodes included."""

    def __init__(self, env: VectorEnv[Any, Any, Any], *, copy: bool, extras: Cadences) -> None:
        super().__init__(env, copy=copy, extras=extras)
        self._cells = np.zeros((1, CELLS), np.int64)
        self._counts = np.zeros((1, BINS), np.int64)
        self._ledger = TimeLedger(self._cells, self._counts, is_alone=True)
        self._step_untimed = self._step_all
        self._step_all = self._step_timed

    @property
    def times(self) -> Times:
        """Where the time of all calls so far went; the histogram is of the mean step of each call."""
        return self._ledger.read()

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset all environments, or those in `options["reset_mask"]`."""
        begun = clock()
        extras_before = int(self._cells[0, EXTRAS])
        result = super().reset(seed=seed, options=options)
        mask = (options or {}).get("reset_mask")
        self._cells[0, RESETS] += self.num_envs if mask is None else np.count_nonzero(mask)
        spent = clock() - begun
        self._cells[0, RESET] += spent - (int(self._cells[0, EXTRAS]) - extras_before)
        self._ledger.call(spent, spent)
        return result

    def step(self, actions: Any) -> Step:
        """Step every environment: observations, rewards, terminations, truncations, infos."""
        begun = clock()
        result = super().step(actions)
        spent = clock() - begun
        self._ledger.call(spent, spent)
        return result

    def _step_timed(self, actions: Any) -> Step:
        begun = clock()
        result: Step = self._step_untimed(actions)
        spent = clock() - begun
        self._cells[0, COMPUTE] += spent
        self._counts[0, bin_of(spent // self.num_envs)] += self.num_envs
        return result

    def _sample(self, fresh: NDArray[np.bool_], ended: NDArray[np.bool_]) -> None:
        begun = clock()
        super()._sample(fresh, ended)
        self._cells[0, EXTRAS] += clock() - begun
