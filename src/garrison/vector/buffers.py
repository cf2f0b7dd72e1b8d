"""The block: everything that a step reads or writes, as arrays in one piece of memory.

A `Plan` says what lies in it; both sides carve the same arrays out of the same plan, so nothing but the plan is ever
sent. Shared memory is an anonymous file that has no name from the start: whatever way the processes end, the system
frees it with the last of them, and /dev/shm never sees it.
"""

import mmap
import os
import tempfile
from dataclasses import dataclass, field
from multiprocessing import reduction
from typing import Any

import numpy as np
from gymnasium import Space
from numpy.typing import NDArray

from garrison.vector import rows
from garrison.vector.extras import Shapes
from garrison.vector.timing.parts import BINS, CELLS

ALIGNMENT = 64  # a cache line


@dataclass(frozen=True)
class Plan:
    """What a block holds."""

    num_envs: int
    observation_space: Space[Any]
    action_space: Space[Any]
    extras: Shapes = field(default_factory=dict)
    workers: int = 1
    timing: bool = False


class Block:
    """The arrays of `num_envs` environments; the first axis of each counts them."""

    observations: rows.Batch
    actions: rows.Batch
    rewards: NDArray[np.float64]
    terminations: NDArray[np.bool_]
    truncations: NDArray[np.bool_]
    extras: dict[str, NDArray[Any]]
    positions: NDArray[np.int64]
    """One per worker: which environment it is at, in the low `POSITION_BITS`; above them, a count of its commands."""
    busy: NDArray[np.float64]
    """One per worker: seconds spent inside environments so far."""
    times: NDArray[np.int64]
    """With timing, a row per worker: nanoseconds by part, see `timing`; without, no rows."""
    counts: NDArray[np.int64]
    """With timing, a row per worker: the histogram of single steps; without, no rows."""

    def __init__(self, plan: Plan, memory: mmap.mmap | None = None) -> None:
        carver = Carver(memory if memory is not None else memoryview(bytearray(size(plan))))
        self._carve(plan, carver)

    def _carve(self, plan: Plan, carver: "Carver") -> None:
        n = plan.num_envs
        self.positions = carver.take((plan.workers,), np.dtype(np.int64))
        self.busy = carver.take((plan.workers,), np.dtype(np.float64))
        timed = plan.workers if plan.timing else 0
        self.times = carver.take((timed, CELLS), np.dtype(np.int64))
        self.counts = carver.take((timed, BINS), np.dtype(np.int64))
        self.observations = rows.build(plan.observation_space, n, carver.take)
        self.actions = rows.build(plan.action_space, n, carver.take)
        self.rewards = carver.take((n,), np.dtype(np.float64))
        self.terminations = carver.take((n,), np.dtype(np.bool_))
        self.truncations = carver.take((n,), np.dtype(np.bool_))
        self.extras = {name: carver.take((n, *shape), np.dtype(d)) for name, (shape, d) in plan.extras.items()}

    def part(self, first: int, count: int, worker: int) -> "Block":
        """Return views of the rows of `count` environments from `first` on, and the cells of their worker."""
        where = slice(first, first + count)
        part = object.__new__(Block)
        part.positions = self.positions[worker : worker + 1]
        part.busy = self.busy[worker : worker + 1]
        part.times = self.times[worker : worker + 1]
        part.counts = self.counts[worker : worker + 1]
        part.observations = rows.part_of(self.observations, where)
        part.actions = rows.part_of(self.actions, where)
        part.rewards = self.rewards[where]
        part.terminations = self.terminations[where]
        part.truncations = self.truncations[where]
        part.extras = {name: array[where] for name, array in self.extras.items()}
        return part


def size(plan: Plan) -> int:
    """Return the bytes that a block needs."""
    counter = Carver(None)
    object.__new__(Block)._carve(plan, counter)
    return max(counter.offset, 1)


class Carver:
    """Hands out arrays from a buffer, one after the other, each on its own cache line; without a buffer it counts."""

    def __init__(self, buffer: mmap.mmap | memoryview | None) -> None:
        self.offset = 0
        self._buffer = buffer

    def take(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return the next array; an empty one if only counting."""
        offset = self.offset
        count = int(np.prod(shape, dtype=np.int64))
        self.offset = -(-(offset + count * dtype.itemsize) // ALIGNMENT) * ALIGNMENT
        if self._buffer is None or count == 0:
            return np.empty((0, *shape[1:]) if self._buffer is None else shape, dtype)
        return np.frombuffer(self._buffer, dtype, count, offset).reshape(shape)


class Memory:
    """Anonymous memory that child processes of any start method can map; its size is set after they have started.

    So the environments can be made in the workers first, and the block is planned from the spaces they report.
    """

    def __init__(self, descriptor: int | None = None) -> None:
        self.descriptor = _nameless_file() if descriptor is None else descriptor

    def map(self, length: int) -> mmap.mmap:
        """Map the memory, growing it to `length` bytes if it is smaller."""
        if os.fstat(self.descriptor).st_size < length:
            os.ftruncate(self.descriptor, length)
        return mmap.mmap(self.descriptor, length)

    def close(self) -> None:
        """Close the descriptor; mapped memory lives on until its last view is gone."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def __reduce__(self) -> tuple[Any, ...]:
        # Works while a process is being started, which is the only time it is needed.
        return _receive_memory, (reduction.DupFd(self.descriptor),)


def _receive_memory(descriptor: Any) -> Memory:
    return Memory(descriptor.detach())


def _nameless_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("garrison", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile(prefix="garrison-") as file:
        return os.dup(file.fileno())
