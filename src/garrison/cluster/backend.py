"""`ray`: workers are Ray actors that hold batches of environments, on this machine or on any of a cluster.

Everything is as with `async`: `reset` and `step`, or ready-first `send` and `recv`. Environments that were sent to one
worker together come back together, in one reply. Without a cluster (`garrison.cluster.connect(address)`, or the
variable RAY_ADDRESS) Ray is started on this machine alone, bound to the loopback, and ends with the process.
"""

from garrison.cluster.env_pool import EnvTraffic, RayEnvPool
from garrison.vector.backends.async_ import AsyncEnvs


class RayEnvs(AsyncEnvs):
    """`async` with a pool of Ray actors instead of processes."""

    backend = "ray"
    open_pool = RayEnvPool

    @property
    def traffic(self) -> EnvTraffic:
        """How many calls were made so far, and the bytes that went out and came back."""
        pool = self._workers.pool
        assert isinstance(pool, RayEnvPool)
        return pool.traffic
