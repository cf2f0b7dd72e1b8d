"""The far side of IMPALA on Ray: actors that return one trajectory per call, and the directory of the weights.

What takes seconds to import is imported when the environments are made: a new actor tells its place at once, and the
directory never needs it.
"""

import pickle
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from garrison.cluster import connection as session
from garrison.cluster.ray_pool import Answer, RayWorker, answer, extend_path
from garrison.workers import channel, pin

if TYPE_CHECKING:
    from garrison.learn.actors.actor import Actor
    from garrison.learn.actors.transport import ActorReport, Buffer

NOTHING = -1
"""The version before the first."""
ATTEMPTS = 3
"""How often an actor asks for the weights again when those that it was told of are gone."""


@dataclass(frozen=True)
class Filled:
    """A trajectory on its way to the learner; its arrays lie in the object store and are read there."""

    buffer: "Buffer"
    report: "ActorReport"


class WeightsDirectory:
    """A Ray actor beside the learner that knows where the newest weights lie; the weights never pass through it."""

    def __init__(self) -> None:
        self._version = NOTHING
        self._place: list[Any] = []

    def publish(self, version: int, place: list[Any]) -> None:
        """Replace the weights; `place` holds a reference, in a list so that Ray passes it on unread."""
        self._version, self._place = version, place

    def newest(self, known: int) -> tuple[int, list[Any]]:
        """Return the newest version and where it lies; nowhere, if it is the known one."""
        return self._version, [] if self._version == known else self._place


class RayActor(RayWorker):
    """The class of the Ray actor that acts."""

    _actor: "Actor"
    _buffer: "Buffer"

    def __init__(self, directory: Any) -> None:
        self._directory = directory
        self._version = NOTHING

    def open(self, spec: bytes, steps: int, seed: int, paths: list[str]) -> Answer:
        """Make the environments and begin their episodes; the payload is the bytes of a trajectory."""
        return answer(lambda: self._open(spec, steps, seed, paths))

    def act(self) -> Answer:
        """Fill a buffer with the newest weights; the payload is a `Filled`."""
        return answer(self._act)

    def _open(self, packed: bytes, steps: int, seed: int, paths: list[str]) -> Answer:
        extend_path(paths)
        from garrison.learn.actors.actor import Actor
        from garrison.learn.actors.transport import Layout

        pin.this_process()
        spec = pickle.loads(packed)
        self._actor = Actor(spec, seed)
        self._buffer = Layout(self._actor.policy, steps, spec.num_envs, spec.action_masks).carve()
        self._actor.collector.reset(seed)
        self._actor.watch.lap()
        return channel.RESULT, byte_count(self._buffer)

    def _act(self) -> Answer:
        watch = self._actor.watch
        watch.mark("wait")
        began = perf_counter()
        version = self._refresh()
        fetch = perf_counter() - began
        report = self._actor.fill(self._buffer, version)
        times = report.times | {"copy": report.times["copy"] - fetch, "fetch": fetch}
        return channel.RESULT, Filled(self._buffer, replace(report, times=times))

    def _refresh(self) -> int:
        """Copy the newest weights from the object store, if they are newer."""
        ray = session.load()
        for attempt in range(ATTEMPTS):
            version, place = ray.get(self._directory.newest.remote(self._version))
            if not place:
                break
            try:
                np.copyto(self._actor.policy.flat.numpy(), ray.get(place[0]))
                self._version = version
                break
            except ray.exceptions.ObjectLostError:  # replaced in this very moment
                if attempt == ATTEMPTS - 1:
                    raise
        return self._version


def byte_count(buffer: "Buffer") -> int:
    """Return the bytes of a trajectory's arrays."""
    arrays = [buffer.memory, *vars(buffer.rollout).values()]
    return sum(int(array.nbytes) for array in arrays)
