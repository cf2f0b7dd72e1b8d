"""`pipes`: worker processes with pickled messages, the classic; kept as the baseline that is measured honestly."""

from typing import Any

from garrison.vector import rows
from garrison.vector.backends.worker_envs import ClosedByFault, WorkerEnvs
from garrison.vector.group import Entries


class PipeEnvs(WorkerEnvs):
    """Sends each worker its actions and receives its observations, rewards and flags, all pickled."""

    backend = "pipes"
    private = True

    def _ask(self, orders: dict[int, tuple[Any, ...]], name: str) -> Entries:
        return super()._ask({w: (name, order, None) for w, order in orders.items()}, "ship")

    def _step(self) -> Entries:
        workers = self._workers
        with ClosedByFault(self):
            workers.take_leftovers()
            for w, r in enumerate(self._groups):
                actions = rows.part_of(self._buffers.actions, slice(r.start, r.stop))
                workers.command(w, "ship", ("step", (), actions))
            replies, dead = self._gather(set(range(self.workers)))
            restarted: Entries = []
            for w in dead:
                restarted += self._replace(w)
                workers.command(w, "ship", ("look", (), None))
                replies[w] = workers.wait_for(w, "after its restart")
        return sorted(self._merged(replies) + restarted, key=lambda entry: entry[0])

    def _merged(self, replies: dict[int, Any]) -> Entries:
        entries: Entries = []
        buffers = self._buffers
        for w in sorted(replies):
            r = self._groups[w]
            where = slice(r.start, r.stop)
            said, observations, rewards, terminations, truncations, extras = replies[w]
            entries += said or ()
            rows.assign(buffers.observations, where, observations, "observations")
            buffers.rewards[where] = rewards
            buffers.terminations[where] = terminations
            buffers.truncations[where] = truncations
            for name, values in extras.items():
                buffers.extras[name][where] = values
        return entries
