"""`pipes`: worker processes with pickled messages, the classic; kept as the baseline that is measured honestly."""

from typing import Any

from garrison.vector import rows
from garrison.vector.backends.processes import Closing, Processes
from garrison.vector.group import Entries


class Pipes(Processes):
    """Sends each worker its actions and receives its observations, rewards and flags, all pickled."""

    backend = "pipes"
    private = True

    def _ask(self, orders: dict[int, tuple[Any, ...]], name: str) -> Entries:
        return super()._ask({w: (name, order, None) for w, order in orders.items()}, "ship")

    def _step(self) -> Entries:
        crew = self._crew
        with Closing(self):
            crew.settle()
            for w, r in enumerate(self._sections):
                actions = rows.part_of(self._block.actions, slice(r.start, r.stop))
                crew.command(w, "ship", ("step", (), actions))
            replies, dead = self._gather(set(range(self.workers)))
            restarted: Entries = []
            for w in dead:
                restarted += self._replace(w)
                crew.command(w, "ship", ("look", (), None))
                replies[w] = crew.wait_for(w, "after its restart")
        return sorted(self._merged(replies) + restarted, key=lambda entry: entry[0])

    def _merged(self, replies: dict[int, Any]) -> Entries:
        entries: Entries = []
        block = self._block
        for w in sorted(replies):
            r = self._sections[w]
            where = slice(r.start, r.stop)
            said, observations, rewards, terminations, truncations, extras = replies[w]
            entries += said or ()
            rows.assign(block.observations, where, observations, "observations")
            block.rewards[where] = rewards
            block.terminations[where] = terminations
            block.truncations[where] = truncations
            for name, values in extras.items():
                block.extras[name][where] = values
        return entries
