"""A section that counts where its time goes, into the cells of its block; what is counted stands in `timing`.

It is another class, chosen when the environments are made, so that a section that does not count has nothing to ask.
"""

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
from gymnasium.vector import AutoresetMode

from garrison.vector.block import Block
from garrison.vector.extras import Cadences
from garrison.vector.section import Entries, Section
from garrison.vector.timing import COMPUTE, COPY, EXTRAS, RESET, RESETS, SPENT, bin_of, clock


class TimedSection(Section):
    """Counts nanoseconds of compute, resets, extras and copying, and every step by its length."""

    def __init__(
        self,
        envs: Sequence[gymnasium.Env[Any, Any]],
        first: int,
        block: Block,
        mode: AutoresetMode,
        extras: Cadences,
    ) -> None:
        super().__init__(envs, first, block, mode, extras)
        self._cells: Any = block.times[0].data
        self._counts: Any = block.counts[0].data
        self._stepped: list[int] = []
        self._reset_times: list[int] = []
        self._extras_time = 0
        self._steps = [_timed_step(step, self._stepped) for step in self._steps]
        self._calls = list(self._steps)
        self._resets = [_timed_reset(reset, self._reset_times) for reset in self._resets]

    def reset(self, chosen: Sequence[int], seeds: Sequence[int | None], options: dict[str, Any] | None) -> Entries:
        """Reset the chosen environments, each with its seed."""
        begun = clock()
        try:
            return super().reset(chosen, seeds, options)
        finally:
            self._settle(begun)

    def step(self) -> Entries:
        """Step all environments with the block's actions."""
        begun = clock()
        try:
            return super().step()
        finally:
            self._settle(begun)

    def step_some(self, chosen: list[int]) -> Entries:
        """Step the chosen environments with the block's actions, in the order given."""
        begun = clock()
        try:
            return super().step_some(chosen)
        finally:
            self._settle(begun)

    def _publish(self, chosen: Sequence[int], ended: list[int]) -> None:
        begun = clock()
        super()._publish(chosen, ended)
        self._extras_time += clock() - begun

    def _publish_first(self, i: int) -> None:
        begun = clock()
        super()._publish_first(i)
        self._extras_time += clock() - begun

    def _settle(self, begun: int) -> None:
        cells, counts = self._cells, self._counts
        compute, reset, extras = sum(self._stepped), sum(self._reset_times), self._extras_time
        for spent in self._stepped:
            counts[bin_of(spent)] += 1
        cells[COMPUTE] += compute
        if self._reset_times:
            cells[RESET] += reset
            cells[RESETS] += len(self._reset_times)
            self._reset_times.clear()
        cells[EXTRAS] += extras
        self._stepped.clear()
        self._extras_time = 0
        spent = clock() - begun
        cells[COPY] += spent - compute - reset - extras
        cells[SPENT] += spent


def section_kind(timing: bool) -> type[Section]:
    """Return the class of sections that count, or that do not."""
    return TimedSection if timing else Section


def _timed_step(step: Callable[[Any], Any], times: list[int]) -> Callable[[Any], Any]:
    append = times.append

    def timed(action: Any) -> Any:
        begun = clock()
        result = step(action)
        append(clock() - begun)
        return result

    return timed


def _timed_reset(reset: Callable[..., Any], times: list[int]) -> Callable[..., Any]:
    def timed(**kwargs: Any) -> Any:
        begun = clock()
        result = reset(**kwargs)
        times.append(clock() - begun)
        return result

    return timed
