"""`shared`: worker processes that step a section each, with everything in one block of shared memory.

A step writes the actions into the block, wakes every worker with one byte, and waits until all have answered with one
byte. Nothing is pickled unless an environment has an info to send.
"""

from garrison.vector.backends.processes import Closing, Processes
from garrison.vector.base import Setup
from garrison.vector.group import Entries
from garrison.workers import channel


class Shared(Processes):
    """Steps all sections at once and waits for the slowest."""

    backend = "shared"

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._all_workers = set(range(self.workers))
        self._busy = self._block.busy
        self._before = self._busy.tolist()
        self._barrier_seconds = 0.0
        self._busy_seconds = 0.0

    def _step(self) -> Entries:
        crew = self._crew
        with Closing(self):
            crew.settle()
            crew.signal_all(channel.STEP)
            replies, dead = self._gather(self._all_workers)
            for w in dead:
                replies[w] = self._replace(w)
        self._count_time()
        return self._merged(replies) if replies else []

    def _count_time(self) -> None:
        now = self._busy.tolist()
        spent = [b - a for a, b in zip(self._before, now, strict=True)]
        self._before = now
        self._busy_seconds += sum(spent)
        self._barrier_seconds += len(spent) * max(spent) - sum(spent)

    @property
    def timings(self) -> dict[str, float]:
        """Worker seconds since the start: inside environments (`busy`), and idle until the slowest came (`barrier`)."""
        return {"busy": self._busy_seconds, "barrier": self._barrier_seconds}
