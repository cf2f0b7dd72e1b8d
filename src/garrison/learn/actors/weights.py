"""Weights in shared memory: one writer that never waits, any number of readers that never wait for long.

Two copies and their versions. The writer always overwrites the older copy, so a reader that has just begun to copy the
newer one is disturbed only if two further versions appear meanwhile; it sees that by the copy's version, which has
changed, and begins again. Versions count up by one.
"""

import numpy as np
from numpy.typing import NDArray

from garrison.learn.rollout import Take

Floats = NDArray[np.float32]

NOTHING, BEING_WRITTEN = -1, -2


class SharedWeights:
    """The newest weights and their version, in memory that `take` gives."""

    def __init__(self, take: Take, size: int) -> None:
        self._newest = take((1,), np.dtype(np.int64))
        self._versions = take((2,), np.dtype(np.int64))
        self._copies = take((2, size), np.dtype(np.float32))

    def clear(self) -> None:
        """Mark that there are no weights yet; the writer's first call."""
        self._newest[0] = NOTHING
        self._versions[:] = NOTHING

    def write(self, weights: Floats, version: int) -> None:
        """Publish `weights` as `version`."""
        # The order of these four lines is what readers rely on. A core of another kind than x86 may show them in
        # another order to a reader, but not by the microseconds that two further versions take.
        place = version % 2
        self._versions[place] = BEING_WRITTEN
        self._copies[place] = weights
        self._versions[place] = version
        self._newest[0] = version

    def read(self, out: Floats, known: int) -> int:
        """Copy the newest weights into `out` unless their version is `known`; return their version."""
        while True:
            version = int(self._newest[0])
            if version == known:
                return known
            place = version % 2
            if self._versions[place] == version:
                np.copyto(out, self._copies[place])
                if self._versions[place] == version:
                    return version
