"""Ray actors as workers: the pool that environments and IMPALA's actors share, with calls in the place of pipes.

Every worker is a Ray actor whose class derives from `RayWorker`. Each of its methods answers with an opcode and a
payload (see `garrison.workers.channel`), whatever goes wrong inside. A worker without room in the cluster waits in
Ray's own queue and begins when a node joins or a place gets free.
"""

import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from garrison.cluster import connection as session
from garrison.workers import channel
from garrison.workers.channel import Message
from garrison.workers.faults import Failure
from garrison.workers.pool import GRACE_SECONDS
from garrison.workers.watchdog import Watchdog

IDLE_SECONDS = 0.05
"""How long to wait before looking again, when no worker has anything under way."""

Answer = tuple[bytes, Any]
"""An opcode and its payload."""


class RayWorker:
    """The base of the classes that Ray makes actors of."""

    def place(self) -> tuple[str, int]:
        """Return on which node this is, and in which process; answered as soon as there is room for the actor."""
        return session.load().get_runtime_context().get_node_id(), os.getpid()


def answer(act: Callable[[], Answer]) -> Answer:
    """Return what `act` returns, or how it failed."""
    try:
        return act()
    except Exception as error:
        return channel.FAILED, pickle.dumps(Failure.of(error))


def extend_path(paths: list[str]) -> None:
    """Import from where the caller does, as far as those folders exist on this machine."""
    sys.path.extend(path for path in paths if path not in sys.path and os.path.isdir(path))


@dataclass(frozen=True)
class _Call:
    worker: int
    method: str
    number: int
    """Counts the calls, so that answers can be taken in the order of asking."""


@dataclass
class _Place:
    node: str = ""
    """Where a worker runs, by Ray's id; empty while it waits for room."""
    pid: int = 0


class RayPool:
    """A fixed number of Ray actors; implements `garrison.workers.pool.Pool`.

    Args:
        kind: their class, a `RayWorker` with a method `open`.
        count: how many.
        task_of: returns the arguments of a worker's `open` from its number and the number of workers started before it.
        watchdog: notices silent workers.
        constructor: arguments of the class.
        options: further options of Ray.
    """

    def __init__(
        self,
        kind: type[RayWorker],
        count: int,
        task_of: Callable[[int, int], tuple[Any, ...]],
        watchdog: Watchdog,
        constructor: tuple[Any, ...] = (),
        options: dict[str, Any] | None = None,
    ) -> None:
        self.session = session.connect()
        self._ray = ray = session.load()
        errors = ray.exceptions
        self.loss_errors = (errors.RayActorError, errors.ObjectLostError, errors.WorkerCrashedError)
        """The errors that mean that a worker is no more."""
        # A Ray of our own is one machine and the number of workers the user's choice; a cluster counts what is taken.
        share = 0 if self.session.ours else 1
        settings = {"num_cpus": share, "max_restarts": 0, "scheduling_strategy": "SPREAD", **(options or {})}
        self._class = ray.remote(**settings)(kind)
        self._constructor, self._task_of = constructor, task_of
        self.watchdog = watchdog
        self.actors: dict[int, Any] = {}
        """The handle of each worker."""
        self._calls: dict[Any, _Call] = {}  # answers to come, oldest first
        self._under_way = [0] * count  # calls, by worker
        self._asked = 0
        self._places = [_Place() for _ in range(count)]
        self._lost: dict[int, str] = {}  # workers whose loss is still to be told, and how it came
        self._exit_reasons = [""] * count
        self._starts = 0
        self.generations = [0] * count
        """How many workers had been started before each of the present ones."""
        self._closed = False
        try:
            for worker in range(count):
                self._start(worker)
        except BaseException:
            self.close(grace=0.0)
            raise

    @property
    def pids(self) -> list[int]:
        """The process id of each worker, on its node; 0 for one that waits for room."""
        return [place.pid for place in self._places]

    @property
    def nodes(self) -> list[str]:
        """The node of each worker, by Ray's id; empty for one that waits for room."""
        return [place.node for place in self._places]

    def running(self) -> list[int]:
        """Return the workers that have found room."""
        return [worker for worker, place in enumerate(self._places) if place.node]

    def call(self, worker: int, method: str, *arguments: Any) -> None:
        """Call a method; its answer comes with `poll`."""
        self.watchdog.expect(worker)
        self._asked += 1
        self._under_way[worker] += 1
        self._calls[getattr(self.actors[worker], method).remote(*arguments)] = _Call(worker, method, self._asked)

    def poll(self, timeout: float | None) -> Iterator[Message]:
        """Wait until any worker answers or is lost, at most `timeout` seconds, and yield everything there is."""
        if not self._lost:
            yield from self._answers(list(self._calls), timeout)
        while self._lost:
            yield self._death(next(iter(self._lost)))

    def poll_one(self, worker: int, timeout: float | None) -> Message | None:
        """Wait for an answer of one worker, or its loss, leaving those of others for later."""
        if worker not in self._lost:
            for message in self._answers(self._calls_of(worker), timeout):
                return message
        return self._death(worker) if worker in self._lost else None

    def ask(self, worker: int, method: str, timeout: float) -> Any:
        """Call a method of the concurrency group of its name, past the calls under way, and wait for its answer.

        Raises one of `loss_errors`, or TimeoutError.
        """
        asked = getattr(self.actors[worker], method).options(concurrency_group=method).remote()
        return self._ray.get(asked, timeout=timeout)

    def place(self, worker: int) -> str:
        """Return where a worker runs; empty while it waits for room."""
        place = self._places[worker]
        return f"process {place.pid}, node {place.node[:8]}" if place.node else ""

    def exit_reason(self, worker: int) -> str:
        """Return how a worker was lost, to be read after its name."""
        return self._exit_reasons[worker]

    def last_words(self, worker: int) -> str:
        """Return nothing: Ray prints what its actors write."""
        return ""

    def restart(self, worker: int, grace: float = 0.0) -> None:
        """Kill a worker and ask for another one in its place."""
        self._end(worker)
        self._start(worker)

    def close(self, grace: float = GRACE_SECONDS) -> None:
        """End every worker: ask, wait a moment, kill. Safe to call twice, and after Ray has gone."""
        if self._closed:
            return
        self._closed = True
        self._calls.clear()
        if not self._ray.is_initialized():
            return
        if grace:
            asked = [actor.close.remote() for actor in self.actors.values()]
            self._ray.wait(asked, num_returns=len(asked), timeout=grace)
        for actor in self.actors.values():
            self._ray.kill(actor)

    def _start(self, worker: int) -> None:
        """Ask Ray for an actor; it begins wherever and whenever there is room."""
        arguments = self._task_of(worker, self._starts)
        self.generations[worker] = self._starts
        self._starts += 1
        self.actors[worker] = self._class.remote(*self._constructor)
        self._places[worker] = _Place()
        self.watchdog.started(worker)
        self.call(worker, "place")
        self.call(worker, "open", *arguments)

    def _end(self, worker: int) -> None:
        self._lost.pop(worker, None)
        self.watchdog.finished(worker)
        for call in self._calls_of(worker):
            del self._calls[call]
        self._under_way[worker] = 0
        if self._ray.is_initialized():
            self._ray.kill(self.actors[worker])  # it may be only out of reach

    def _calls_of(self, worker: int) -> list[Any]:
        return [answer for answer, call in self._calls.items() if call.worker == worker]

    def _death(self, worker: int) -> Message:
        self._exit_reasons[worker] = self._lost[worker]
        self._end(worker)
        return Message(worker, channel.DIED, b"")

    def _answers(self, answers: list[Any], timeout: float | None) -> Iterator[Message]:
        """Wait for one of the answers and yield all that have come, in the order of asking; note lost workers."""
        if not answers:
            time.sleep(IDLE_SECONDS if timeout is None else min(timeout, IDLE_SECONDS))
            return
        ready, others = self._ray.wait(answers, num_returns=1, timeout=timeout)
        if ready and others:
            ready += self._ray.wait(others, num_returns=len(others), timeout=0)[0]
        for come in sorted(ready, key=lambda answer: self._calls[answer].number):
            call = self._calls.pop(come, None)
            if call is None:  # of a worker that was ended meanwhile
                continue
            worker = call.worker
            self._under_way[worker] -= 1
            try:
                found = self._ray.get(come)
            except self.loss_errors as error:
                self._lost.setdefault(worker, _describe_loss(error))
                continue
            if call.method == "place":
                self._places[worker] = _Place(*found)
                self.watchdog.placed(worker)
                continue
            self.watchdog.heard(worker)
            if not self._under_way[worker]:
                self.watchdog.finished(worker)
            yield Message(worker, *found)


def _describe_loss(error: Exception) -> str:
    """Return in a few words how a worker was lost."""
    if "node has died" in str(error):
        return "was lost with its node"
    return "its answer was lost" if type(error).__name__.startswith("Object") else "died"
