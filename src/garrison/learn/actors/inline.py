"""The transport within one process: the learner's wait for a trajectory *is* its collection. Repeatable, resumable."""

from typing import Any

import numpy as np

from garrison.errors import UserError
from garrison.learn.actors.actor import Actor
from garrison.learn.actors.transport import Buffer, Floats, Layout, Trajectory
from garrison.learn.stopwatch import Stopwatch


class Inline:
    """One actor in the learner's own process; implements `Transport`."""

    actors = 0
    processes = 0
    replaced = 0

    def __init__(
        self, actor: Actor, layout: Layout, watch: Stopwatch, seed: int, resume: dict[str, Any] | None = None
    ) -> None:
        self._actor = actor
        self._watch = watch  # the learner's: its wait is spent acting, and is counted as that
        self._buffer: Buffer = layout.carve()
        self._version = 0
        self.is_exact = True
        if resume is None:
            actor.collector.reset(seed)
            return
        if "streams" not in resume:  # of a run with actor processes
            actor.collector.reset(seed)
            self.is_exact = False
            return
        if len(resume["streams"]) != layout.num_envs:
            saved = len(resume["streams"])
            raise UserError(f"cannot resume: the state is of {saved} environments, and there are {layout.num_envs}.")
        self.is_exact = actor.collector.restore(resume, seed)

    def publish(self, weights: Floats, version: int) -> None:
        """Give the actor the learner's weights."""
        np.copyto(self._actor.policy.flat.numpy(), weights)
        self._version = version

    def receive(self, timeout: float) -> Trajectory | None:
        """Collect a trajectory."""
        self._actor.watch.credit({})  # not its time: the learner's, since the last trajectory
        report = self._actor.fill(self._buffer, self._version)
        self._watch.credit(report.times)
        return Trajectory(self._buffer, report, actor=0)

    def release(self, trajectory: Trajectory) -> None:
        """Nothing waits for the buffer."""

    def check(self) -> list[str]:
        """Return nothing: what goes wrong here is raised."""
        return []

    def state(self) -> dict[str, Any]:
        """Return everything that the next trajectory depends on."""
        return self._actor.collector.state()

    def close(self) -> None:
        """Close the environments."""
        self._actor.close()
