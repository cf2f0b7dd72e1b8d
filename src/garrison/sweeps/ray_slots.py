"""The runs of a sweep on Ray: each is a process on some node, beside an actor that starts and ends it.

The folder of the sweep must be on a file system that all nodes share, as for any run that another node is to continue.
"""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from garrison.cluster import connection
from garrison.errors import UserError
from garrison.sweeps.one_run import Job
from garrison.sweeps.slots import LocalProcess

LOST = -9
"""The exit code of a run whose node is gone."""
UNSEEN = 78
"""The exit code where the sweep's folder is not to be seen: EX_CONFIG."""
ANSWER_SECONDS = 60.0


class RunHolder:
    """A Ray actor that holds the process of one run; when the actor ends, the process loses its input and stops."""

    def __init__(self, job: Job, plan: str) -> None:
        self._process = LocalProcess(job) if Path(plan).is_file() else None

    def poll(self) -> int | None:
        """Return the exit code, None while it goes on."""
        return self._process.poll() if self._process is not None else UNSEEN

    def stop(self) -> None:
        """Ask the run to save and end."""
        if self._process is not None:
            self._process.stop()

    def kill(self) -> None:
        """End the run at once."""
        if self._process is not None:
            self._process.kill()


class RaySlots:
    """Places on a cluster, as many as its CPUs bear.

    Args:
        address: of the cluster, as `--cluster` takes it.
        needed: CPUs that a run has use for.
        jobs: how many runs at once; 0 for as many as the CPUs bear.
        plan: the sweep's plan, which every node must see.
    """

    def __init__(self, address: str, needed: int, jobs: int, plan: Path) -> None:
        self._ray = connection.load()
        self._was_connected = self._ray.is_initialized()
        session = connection.connect(address)
        cpus = int(session.cpus()[0])
        if cpus < needed:
            self.close()
            raise UserError(f"a run needs {needed} CPUs, and the cluster has {cpus}.")
        self._needed, self._plan, self._nodes = needed, plan, len(session.nodes())
        self.count = jobs or cpus // needed

    def start(self, job: Job) -> "RayProcess":
        """Start a run where there is room; it waits in Ray's queue until there is."""
        # Nodes are shared: which cores are free there is not ours to know, so a run is told how many, not which.
        job = replace(job, path=str(Path(job.path).resolve()), cores=list(range(self._needed)), pinned=False)
        holder = self._ray.remote(num_cpus=self._needed, max_restarts=0, scheduling_strategy="SPREAD")(RunHolder)
        return RayProcess(self._ray, holder.remote(job, str(self._plan.resolve())))

    def close(self) -> None:
        """Leave the cluster, unless the caller was connected before."""
        if not self._was_connected:
            connection.disconnect()

    def describe(self) -> str:
        """Return how many at once, and where."""
        nodes = "1 node" if self._nodes == 1 else f"{self._nodes} nodes"
        return f"{self.count} at once on {nodes} of Ray, {self._needed} CPU each"


class RayProcess:
    """A run on the cluster."""

    def __init__(self, ray: Any, holder: Any) -> None:
        self._ray, self._holder = ray, holder
        self._asked: Any = holder.poll.remote()
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return the exit code; None also while the run waits for room."""
        if self._code is None and self._ray.wait([self._asked], timeout=0)[0]:
            try:
                self._code = self._ray.get(self._asked)
            except self._ray.exceptions.RayError:  # the node, or the actor on it, is gone
                self._code = LOST
            if self._code == UNSEEN:
                raise UserError(
                    "a node of the cluster does not see the sweep's folder.",
                    hint="Choose one with --out that all nodes share, such as a folder on NFS.",
                )
            if self._code is None:
                self._asked = self._holder.poll.remote()
            else:
                self._ray.kill(self._holder)  # gives its CPUs back
        return self._code

    def stop(self) -> None:
        """Ask the run to save and end."""
        self._holder.stop.remote()

    def kill(self) -> None:
        """End the run at once."""
        with suppress(self._ray.exceptions.RayError):  # also of one that never began
            self._ray.get(self._holder.kill.remote(), timeout=ANSWER_SECONDS)
        self._ray.kill(self._holder)
