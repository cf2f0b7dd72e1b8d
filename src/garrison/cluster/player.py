"""The far side of IMPALA on Ray: actors that return one trajectory per call, and the board where the weights hang.

What takes seconds to import is imported when the environments are made: a new actor says at once that it has a place,
and the board never needs it.
"""

import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from garrison.cluster import session
from garrison.cluster.host import follow
from garrison.workers import pin
from garrison.workers.faults import Failure

if TYPE_CHECKING:
    from garrison.learn.actors.actor import Actor
    from garrison.learn.actors.transport import Buffer, Report

Answer = TypeVar("Answer")
NOTHING = -1
"""The version before the first."""
ATTEMPTS = 3
"""So often an actor asks for the weights again when those that it was told of are gone."""


@dataclass(frozen=True)
class Filled:
    """A trajectory on its way to the learner; its arrays lie in the object store and are read there."""

    buffer: "Buffer"
    report: "Report"


class Board:
    """A Ray actor beside the learner that knows where the newest weights lie; the weights never pass through it."""

    def __init__(self) -> None:
        self._version = NOTHING
        self._place: list[Any] = []

    def hang(self, version: int, place: list[Any]) -> None:
        """Replace the weights; `place` holds a reference, in a list so that Ray passes it on unread."""
        self._version, self._place = version, place

    def newest(self, known: int) -> tuple[int, list[Any]]:
        """Return the newest version and where it lies; nowhere, if it is the known one."""
        return self._version, [] if self._version == known else self._place


class Player:
    """The class of the Ray actor that acts; every method answers, whatever goes wrong inside."""

    _actor: "Actor"
    _buffer: "Buffer"

    def __init__(self, board: Any) -> None:
        self._board = board
        self._version = NOTHING

    def hello(self) -> tuple[str, int]:
        """Say on which node this is, and in which process; the first thing that is asked, and answered at once."""
        return session.load().get_runtime_context().get_node_id(), os.getpid()

    def open(self, recipe: bytes, steps: int, seed: int, paths: list[str]) -> int | Failure:
        """Make the environments and begin their episodes; return the bytes of a trajectory."""
        return _answer(lambda: self._open(recipe, steps, seed, paths))

    def act(self) -> Filled | Failure:
        """Fill a buffer with the newest weights."""
        return _answer(self._act)

    def _open(self, pickled: bytes, steps: int, seed: int, paths: list[str]) -> int:
        follow(paths)
        from garrison.learn.actors.actor import Actor
        from garrison.learn.actors.transport import Layout

        pin.this_process()
        recipe = pickle.loads(pickled)
        self._actor = Actor(recipe, seed)
        self._buffer = Layout(self._actor.policy, steps, recipe.num_envs, recipe.action_masks).carve()
        self._actor.collector.reset(seed)
        self._actor.watch.lap()
        return weight(self._buffer)

    def _act(self) -> Filled:
        watch = self._actor.watch
        watch.mark("wait")
        began = perf_counter()
        version = self._refresh()
        fetch = perf_counter() - began
        report = self._actor.fill(self._buffer, version)
        times = report.times | {"copy": report.times["copy"] - fetch, "fetch": fetch}
        return Filled(self._buffer, replace(report, times=times))

    def _refresh(self) -> int:
        """Copy the newest weights from the object store, if they are newer."""
        ray = session.load()
        for attempt in range(ATTEMPTS):
            version, place = ray.get(self._board.newest.remote(self._version))
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


def weight(buffer: "Buffer") -> int:
    """Return the bytes of a trajectory's arrays."""
    arrays = [buffer.memory, *vars(buffer.rollout).values()]
    return sum(int(array.nbytes) for array in arrays)


def _answer(act: Callable[[], Answer]) -> Answer | Failure:
    try:
        return act()
    except Exception as error:
        return Failure.of(error)
