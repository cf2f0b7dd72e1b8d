"""Memory that processes share, and arrays in it.

It is an anonymous file that has no name from the start: however the processes end, the system frees it with the last of
them, and /dev/shm never sees it.
"""

import fcntl
import mmap
import os
import tempfile
from multiprocessing import reduction
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALIGNMENT = 64  # a cache line


class SharedMemory:
    """Anonymous memory that child processes of any start method can map; its size is set after they have started.

    So workers can start first, and the arrays are planned from what they report.
    """

    def __init__(self, descriptor: int | None = None) -> None:
        self.descriptor = nameless_file() if descriptor is None else descriptor

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


class Allocator:
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


def _receive_memory(descriptor: Any) -> SharedMemory:
    return SharedMemory(descriptor.detach())


def nameless_file(appending: bool = False) -> int:
    """Return the descriptor of a new file without a name; with `appending`, whoever writes does so at its end."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("garrison", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile(prefix="garrison-") as file:
            descriptor = os.dup(file.fileno())
    if appending:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND | os.O_RDWR)
    return descriptor
