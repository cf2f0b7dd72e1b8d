"""`ray`: workers are Ray actors that hold batches of environments, on this machine or on any of a cluster.

Everything is as with `async`: `reset` and `step`, or ready-first `send` and `recv`. Environments that were sent to one
worker together come back together, in one reply. Without a cluster (`garrison.cluster.connect(address)`, or the
variable RAY_ADDRESS) Ray is started on this machine alone, bound to the loopback, and ends with the process.
"""

from garrison.cluster.crew import RayCrew, Traffic
from garrison.vector.backends.async_ import Async


class Ray(Async):
    """Steps environments in Ray actors and hands them back in the order in which they get ready."""

    backend = "ray"
    crew = RayCrew
    _crew: RayCrew

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers, each on its own machine."""
        return list(self._crew.pids)

    @property
    def traffic(self) -> Traffic:
        """How many calls were made so far, and the bytes that went out and came back."""
        return self._crew.traffic
