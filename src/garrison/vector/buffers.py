"""The buffers: everything that a step reads or writes, as arrays in one piece of memory.

A `BufferPlan` says what lies in it; caller and workers lay out the same arrays from the same plan, so nothing but the
plan is ever sent.
"""

import mmap
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium import Space
from numpy.typing import NDArray

from garrison.vector import rows
from garrison.vector.extras import Shapes
from garrison.vector.timing.parts import BINS, CELLS
from garrison.workers.memory import Allocator


@dataclass(frozen=True)
class BufferPlan:
    """What the buffers hold."""

    num_envs: int
    observation_space: Space[Any]
    action_space: Space[Any]
    extras: Shapes = field(default_factory=dict)
    workers: int = 1
    timing: bool = False


class Buffers:
    """The arrays of `num_envs` environments; the first axis of each counts them."""

    observations: rows.Arrays
    actions: rows.Arrays
    rewards: NDArray[np.float64]
    terminations: NDArray[np.bool_]
    truncations: NDArray[np.bool_]
    extras: dict[str, NDArray[Any]]
    positions: NDArray[np.int64]
    """One per worker: which environment it is at, in the low `POSITION_BITS`; above them, a count of its commands."""
    times: NDArray[np.int64]
    """With timing, a row per worker: nanoseconds by part, see `timing`; without, no rows."""
    counts: NDArray[np.int64]
    """With timing, a row per worker: the histogram of single steps; without, no rows."""

    def __init__(self, plan: BufferPlan, memory: mmap.mmap | None = None) -> None:
        allocator = Allocator(memory if memory is not None else memoryview(bytearray(size(plan))))
        self._allocate(plan, allocator)

    def _allocate(self, plan: BufferPlan, allocator: Allocator) -> None:
        n = plan.num_envs
        self.positions = allocator.take((plan.workers,), np.dtype(np.int64))
        timed = plan.workers if plan.timing else 0
        self.times = allocator.take((timed, CELLS), np.dtype(np.int64))
        self.counts = allocator.take((timed, BINS), np.dtype(np.int64))
        self.observations = rows.build(plan.observation_space, n, allocator.take)
        self.actions = rows.build(plan.action_space, n, allocator.take)
        self.rewards = allocator.take((n,), np.dtype(np.float64))
        self.terminations = allocator.take((n,), np.dtype(np.bool_))
        self.truncations = allocator.take((n,), np.dtype(np.bool_))
        self.extras = {name: allocator.take((n, *shape), np.dtype(d)) for name, (shape, d) in plan.extras.items()}

    def part(self, first: int, count: int, worker: int) -> "Buffers":
        """Return views of the rows of `count` environments from `first` on, and the cells of their worker."""
        where = slice(first, first + count)
        part = object.__new__(Buffers)
        part.positions = self.positions[worker : worker + 1]
        part.times = self.times[worker : worker + 1]
        part.counts = self.counts[worker : worker + 1]
        part.observations = rows.part_of(self.observations, where)
        part.actions = rows.part_of(self.actions, where)
        part.rewards = self.rewards[where]
        part.terminations = self.terminations[where]
        part.truncations = self.truncations[where]
        part.extras = {name: array[where] for name, array in self.extras.items()}
        return part


def size(plan: BufferPlan) -> int:
    """Return the bytes that the buffers need."""
    counter = Allocator(None)
    object.__new__(Buffers)._allocate(plan, counter)
    return max(counter.offset, 1)
