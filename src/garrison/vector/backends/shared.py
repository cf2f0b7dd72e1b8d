"""`shared`: worker processes that step a group each, with everything in one piece of shared memory.

A step writes the actions into the buffers, wakes every worker with one byte, and waits until all have answered with one
byte. Nothing is pickled unless an environment has an info to send.
"""

from garrison.vector import messages
from garrison.vector.backends.worker_envs import ClosedByFault, WorkerEnvs
from garrison.vector.base import Setup
from garrison.vector.group import Entries


class SharedEnvs(WorkerEnvs):
    """Steps all groups at once and waits for the slowest."""

    backend = "shared"

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._all_workers = set(range(self.workers))

    def _step(self) -> Entries:
        workers = self._workers
        with ClosedByFault(self):
            workers.take_leftovers()
            for w in self._all_workers:
                workers.pool.send(w, messages.STEP)
            replies, dead = self._gather(self._all_workers)
            for w in dead:
                replies[w] = self._replace(w)
        return self._merged(replies) if replies else []
