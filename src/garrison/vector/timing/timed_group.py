"""A group that counts where its time goes, into the cells of its buffers; what is counted stands in `timing`.

It is another class, chosen when the environments are made, so that a group that does not count has nothing to ask.
"""

from array import array
from collections.abc import Callable, Sequence
from operator import sub
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from garrison.vector import rows
from garrison.vector.buffers import Buffers
from garrison.vector.extras import Cadences
from garrison.vector.group import MISFITS, Entries, EnvGroup, Options, Result, Seeds, env_failed
from garrison.vector.timing.parts import BINS, COMPUTE, COPY, EXTRAS, RESET, RESETS, SPENT, bin_of, bins_of, clock

TOGETHER = 1024
"""How many cheap steps may wait for their place in the histogram."""
LONG = 1_000_000
"""Nanoseconds of compute in one call after which they need not wait."""
FEW = 48
"""Up to how many a loop in Python is quicker than NumPy."""


class TimedEnvGroup(EnvGroup):
    """Counts nanoseconds of compute, resets, extras and copying, and every step by its length."""

    def __init__(
        self,
        envs: Sequence[gymnasium.Env[Any, Any]],
        first: int,
        buffers: Buffers,
        mode: AutoresetMode,
        extras: Cadences,
    ) -> None:
        super().__init__(envs, first, buffers, mode, extras)
        self._cells: Any = buffers.times[0].data
        self._counts = buffers.counts[0]
        self._bins: Any = self._counts.data
        self._stepped = array("q")  # and not yet in their bins
        self._compute = 0
        self._restarts: set[int] = set()  # reset in this step instead of stepped
        self._reset_times: list[int] = []
        self._extras_time = 0
        self._resets = [_timed_reset(reset, self._reset_times) for reset in self._resets]

    def reset(self, chosen: Sequence[int], seeds: Seeds, options: Options) -> Entries:
        """Reset the chosen environments, each with its seed."""
        begun = clock()
        try:
            return super().reset(chosen, seeds, options)
        finally:
            self._record(begun)

    def step(self) -> Entries:
        """Step all environments with the actions in the buffers."""
        begun = clock()
        try:
            return super().step()
        finally:
            self._record(begun)

    def step_some(self, chosen: list[int]) -> Entries:
        """Step the chosen environments with the actions in the buffers, in the order given."""
        begun = clock()
        try:
            return super().step_some(chosen)
        finally:
            self._record(begun)

    def _publish(self, chosen: Sequence[int], ended: list[int]) -> None:
        begun = clock()
        super()._publish(chosen, ended)
        self._extras_time += clock() - begun

    def _publish_first(self, i: int) -> None:
        begun = clock()
        super()._publish_first(i)
        self._extras_time += clock() - begun

    def _advance(self, chosen: Sequence[int], where: rows.Where, calls: Sequence[Callable[[Any], Any]]) -> Entries:
        # The hot loop of `EnvGroup` once more, with a look at the clock between environments: wrapping every step
        # instead would cost twice as much.
        actions = rows.split(self._action_space, self._buffers.actions, where)
        results: list[Any] = []
        append = results.append
        stamps = [clock()]
        stamp = stamps.append
        position = self._position
        base = self._begin()
        try:
            for i, call, action in zip(chosen, calls, actions, strict=True):
                position[0] = base + i
                append(call(action))
                stamp(clock())
        except Exception as error:
            raise env_failed(self._first + chosen[len(results)], "step()", error) from error
        finally:
            self._count(chosen, stamps)
        try:
            return self._store(chosen, where, results)
        except MISFITS as error:
            raise self._diagnose(chosen, results, error) from error

    def _count(self, chosen: Sequence[int], stamps: list[int]) -> None:
        """Note the steps between `stamps`, less those that were resets."""
        steps = list(map(sub, stamps[1:], stamps))
        if self._restarts:
            steps = [spent for i, spent in zip(chosen, steps, strict=False) if i not in self._restarts]
            self._restarts.clear()
        self._compute += sum(steps)
        self._stepped.extend(steps)

    def _restart(self, i: int, _action: Any) -> Result:
        self._restarts.add(i)
        return super()._restart(i, _action)

    def _record(self, begun: int) -> None:
        cells = self._cells
        compute, reset, extras = self._compute, 0, self._extras_time
        self._compute = self._extras_time = 0
        if self._reset_times:
            reset = sum(self._reset_times)
            cells[RESET] += reset
            cells[RESETS] += len(self._reset_times)
            self._reset_times.clear()
        # Cheap steps are put into their bins many at a time; expensive ones at once, it costs them little.
        if len(self._stepped) >= TOGETHER or compute > LONG:
            self._fill_bins()
        cells[COMPUTE] += compute
        if extras:
            cells[EXTRAS] += extras
        spent = clock() - begun
        cells[COPY] += spent - compute - reset - extras
        cells[SPENT] += spent

    def _fill_bins(self) -> None:
        if len(self._stepped) < FEW:
            cells = self._bins
            for spent in self._stepped:
                cells[bin_of(spent)] += 1
        else:
            self._counts += np.bincount(bins_of(np.array(self._stepped)), minlength=BINS)
        del self._stepped[:]


def group_class(timing: bool) -> type[EnvGroup]:
    """Return the class of groups that count, or that do not."""
    return TimedEnvGroup if timing else EnvGroup


def _timed_reset(reset: Callable[..., Any], times: list[int]) -> Callable[..., Any]:
    def timed(**kwargs: Any) -> Any:
        begun = clock()
        result = reset(**kwargs)
        times.append(clock() - begun)
        return result

    return timed
