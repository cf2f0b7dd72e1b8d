"""The workers of one vector environment, seen by their caller: commands, answers, deaths and timeouts.

How workers are started and heard of is the business of a pool: of processes (`ProcessEnvPool`, here) or of Ray actors
(`garrison.cluster.env_pool`). What they say and what their faults mean is the business of `EnvWorkers`, once for both.
"""

import logging
import pickle
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, NoReturn, Protocol

import numpy as np

from garrison.system import cores
from garrison.vector import messages, rows
from garrison.vector.base import EnvInfo, Setup
from garrison.vector.buffers import BufferPlan, Buffers, size
from garrison.vector.group import POSITION_BITS, Entries
from garrison.vector.worker import WorkerTask, pack_objects, put_objects, work
from garrison.workers import channel
from garrison.workers.channel import Message
from garrison.workers.faults import EnvTimeout, WorkerDied
from garrison.workers.launch import Launch
from garrison.workers.memory import SharedMemory
from garrison.workers.pickling import encode
from garrison.workers.pool import GRACE_SECONDS, Pool, WorkerPool

MAKING_SECONDS = 60.0
"""How long a worker may take to start and make its environments, whatever the timeout of a step."""
MANY = 8
"""From this many workers on, their making tells how far it is"""
PROGRESS_SECONDS = 2.0
"""and after this many seconds for the first time."""
AWAKE_SECONDS = 200e-6
"""How long who waits looks for a message before it sleeps: about twice what waking it would take."""
CLOSED = "The vector environment is closed"

log = logging.getLogger("garrison.vector")


class EnvPool(Pool, Protocol):
    """A pool whose workers hold environments."""

    def send(self, worker: int, opcode: bytes, payload: bytes = b"") -> None:
        """Send a worker a message; if it is gone, `poll` will say so."""

    def poll_one(self, worker: int, timeout: float | None) -> Message | None:
        """Wait for a message of one worker, or its death, leaving what others say for later."""

    def make_buffers(self, plan: BufferPlan) -> Buffers:
        """Make the caller's buffers."""

    def position(self, worker: int) -> int:
        """Return which environment a worker is at, in the low `POSITION_BITS`, and a count of its commands above."""

    def why_not_started(self) -> str:
        """Return what may keep workers from starting, if that is known."""


class ProcessEnvPool(WorkerPool):
    """Worker processes that hold environments, with buffers in shared memory; implements `EnvPool`."""

    _buffers: Buffers
    _sends_objects = False

    def __init__(self, setup: Setup) -> None:
        self._groups = setup.groups()
        # Where workers are more than cores, one that looks for messages would take the core of one that works.
        awake = AWAKE_SECONDS if setup.workers <= cores() else 0.0

        def task_of(number: int, _: int) -> WorkerTask:
            return WorkerTask.of(setup, number, is_packed=setup.start_method != "fork", awake=awake)

        # The fork server imports NumPy and Gymnasium once, not every worker.
        launch = Launch(work, setup.start_method, preload=(work.__module__,))
        super().__init__(setup.workers, launch, task_of, SharedMemory(), setup.timeout, making_seconds(setup))
        counts = f"{setup.workers} workers for {setup.num_envs} environments"
        log.info("%s (%s); math libraries pinned to one thread per worker", counts, setup.start_method)

    def make_buffers(self, plan: BufferPlan) -> Buffers:
        """Lay out the shared memory."""
        self._buffers = Buffers(plan, self.memory.map(size(plan)))
        self._sends_objects = bool(rows.object_spaces(plan.action_space))
        found = [*rows.object_spaces(plan.observation_space), *rows.object_spaces(plan.action_space)]
        if found:
            kinds = " and ".join(sorted({type(space).__name__ for space in found}))
            log.warning("values of %s spaces cannot lie in shared memory: they travel pickled, which is slower", kinds)
        return self._buffers

    def send(self, worker: int, opcode: bytes, payload: bytes = b"") -> None:
        """Send a worker a message; before a step, those actions that do not lie in the shared memory."""
        if self._sends_objects and opcode in (messages.STEP, messages.SOME):
            r = self._groups[worker]
            numbers = range(len(r)) if opcode == messages.STEP else np.frombuffer(payload, np.int32).tolist()
            super().send(worker, messages.OBJECTS, pack_objects(self._buffers.actions, numbers, r.start))
        super().send(worker, opcode, payload)

    def _receive(self, worker: int) -> Message | None:
        message = super()._receive(worker)
        while message is not None and message.opcode == messages.OBJECTS:
            put_objects(self._buffers.observations, message.payload, self._groups[worker].start)
            message = super()._receive(worker)  # what they belong to comes right behind
        return message

    def position(self, worker: int) -> int:
        """Read the worker's cell in the shared memory."""
        return int(self._buffers.positions[worker])

    def why_not_started(self) -> str:
        """Nothing keeps processes from starting."""
        return ""


class EnvWorkers:
    """All workers of one vector environment."""

    buffers: Buffers

    def __init__(self, setup: Setup, open_pool: Callable[[Setup], EnvPool] = ProcessEnvPool) -> None:
        self._setup = setup
        self._plan: tuple[BufferPlan, bool] | None = None
        self.groups = setup.groups()
        """The environments of each worker."""
        self.why_closed = ""
        """The fault that ended all workers, if one did."""
        self.was_interrupted = False
        """Whether a Ctrl-C ended a call, so that a reply may have been taken in without being noted."""
        self._tokens = count()
        self.pool = open_pool(setup)
        try:
            self.info = self._gather_infos()
        except BaseException:
            self.pool.close(grace=0.0)
            raise

    def close_with(self, owner: object) -> "weakref.finalize[Any, Any]":
        """End the workers when `owner` is forgotten, the interpreter exits, or the returned function is called."""
        return weakref.finalize(owner, self.close)

    def attach(self, plan: BufferPlan, private: bool) -> Buffers:
        """Make the buffers, tell every worker of them, and return them."""
        self._plan = plan, private
        self.buffers = self.pool.make_buffers(plan)
        self.command_all("attach", [(plan, private)] * len(self.groups))
        return self.buffers

    def command(self, w: int, name: str, arguments: tuple[Any, ...]) -> None:
        """Ask one worker to run one of its methods."""
        payload = encode((name, arguments), "the arguments cannot be sent to a worker process")
        self.pool.send(w, channel.COMMAND, payload)

    def command_all(self, name: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Run a method on every worker and return the results in order; a death here is always an error."""
        self.take_leftovers()
        for w, each in enumerate(arguments):
            self.command(w, name, each)
        results: dict[int, Any] = {}
        failures = {}
        for w, opcode, payload in self.collect(set(range(len(arguments)))):
            if opcode == channel.DIED:
                self.raise_death(w, f"during {name!r}")
            elif opcode == channel.FAILED:
                failures[w] = pickle.loads(payload)
            else:
                results[w] = pickle.loads(payload) if payload else None
        if failures:
            failures[min(failures)].raise_()
        return [results[w] for w in sorted(results)]

    def take_leftovers(self) -> None:
        """Take in replies that an earlier call left behind, so that the next ones are the right ones."""
        if self.was_interrupted:
            for w in self.pool.running():
                self.discard_replies(w)
            self.was_interrupted = False
        if not self.pool.watchdog.busy:
            return
        for w, opcode, _ in self.collect(set(self.pool.watchdog.busy)):
            if opcode == channel.DIED:
                self.raise_death(w, "while idle")

    def collect(self, wanted: set[int]) -> Iterator[Message]:
        """Yield messages as they come in, until each wanted worker has finished a command or died.

        Raises EnvTimeout if a wanted worker has been at the same environment for longer than `timeout`.
        """
        waiting = set(wanted)
        while waiting:
            for message in self.collect_some(waiting):
                waiting.discard(message.worker)
                yield message

    def collect_some(self, waiting: set[int]) -> Iterator[Message]:
        """Wait until at least one worker replies or dies, or for a while; yield what there is."""
        yield from self.pool.poll(self.pool.watchdog.patience)
        self._raise_if_stuck(waiting)

    def wait_for(self, w: int, when: str) -> Any:
        """Wait for the reply of one worker, leaving what others say for later; a death here is an error."""
        _, opcode, payload = self._next_message(w, when)
        if opcode == channel.FAILED:
            pickle.loads(payload).raise_()
        return pickle.loads(payload) if payload else None

    def discard_replies(self, w: int) -> None:
        """Throw away what a worker still says about earlier commands."""
        for _ in self.last_words(w):
            pass

    def last_words(self, w: int) -> Iterator[Message]:
        """Let a worker finish all that it was told, and yield what it says about it."""
        token = next(self._tokens)
        self.command(w, "sync", (token,))
        message = self._next_message(w, "after a failure")
        while message.opcode != channel.RESULT or pickle.loads(message.payload) != token:
            yield message
            message = self._next_message(w, "after a failure")

    def replace(self, w: int, seeds: list[int | None]) -> Entries:
        """Start a new worker in the place of a dead one, with fresh episodes marked truncated; return their infos.

        Raises WorkerDied and closes everything if the setup says so, or if the new one dies as well.
        """
        if not self._setup.restart:
            self.raise_death(w)
        log.warning("%s; restarting it, its episodes are reported as truncated", self._describe_death(w))
        self.pool.restart(w)
        assert self._plan is not None
        self.wait_for(w, "again, right after its restart")
        self.command(w, "attach", self._plan)
        self.wait_for(w, "again, right after its restart")
        self.command(w, "revive", (seeds,))
        return self.wait_for(w, "again, right after its restart") or []

    def raise_death(self, w: int, when: str = "") -> NoReturn:
        """Close everything and raise WorkerDied."""
        what = f"{self._describe_death(w)} {when}".strip()
        hint = "; on_worker_death='restart' would go on with its environments reset and marked truncated"
        words = self.pool.startup_stderr(w)
        self._close_because(what)
        raise WorkerDied(f"{what}.", worker=w, hint=f"{CLOSED}{'' if self._setup.restart else hint}.", details=words)

    def close(self, grace: float = GRACE_SECONDS) -> None:
        """End every worker: ask, wait a moment, kill. Safe to call twice."""
        self.pool.close(grace)

    def _gather_infos(self) -> EnvInfo:
        """Wait until every worker has made its environments, and check that they are alike."""
        infos: dict[int, EnvInfo] = {}
        progress = Progress(len(self.groups))
        for w, opcode, payload in self.collect(set(range(len(self.groups)))):
            if opcode == channel.DIED:
                self.raise_death(w, "while it made its environments")
            if opcode == channel.FAILED:
                pickle.loads(payload).raise_()
            infos[w] = pickle.loads(payload)
            progress.tell(len(infos))
        for w in range(1, len(infos)):
            infos[0].check(infos[w], self.groups[w].start)
        return infos[0]

    def _next_message(self, w: int, when: str) -> Message:
        while True:
            message = self.pool.poll_one(w, self.pool.watchdog.patience)
            if message is None:
                self._raise_if_stuck({w})
            elif message.opcode == channel.DIED:
                self.raise_death(w, when)
            else:
                return message

    def _raise_if_stuck(self, waiting: set[int]) -> None:
        watchdog = self.pool.watchdog
        for w in watchdog.late(waiting, self.pool.position):
            within = f"within {watchdog.allowed(w):g} s"
            hint = f"{CLOSED}. Raise timeout= if it is only slow."
            if w in watchdog.starting:
                what = f"worker {w} has not made {span(self.groups[w])} {within}"
                known = self.pool.why_not_started()
                self._close_because(what)
                raise EnvTimeout(f"{what}; {known}." if known else f"{what}.", worker=w, hint=hint)
            i = self.pool.position(w) & ((1 << POSITION_BITS) - 1)
            what = f"environment {i} (worker {w}, {self.pool.place(w)}) has not returned {within}"
            self._close_because(what)
            raise EnvTimeout(f"{what}.", worker=w, index=i, hint=hint)

    def _describe_death(self, w: int) -> str:
        reason = self.pool.exit_reason(w)
        return f"worker {w} ({self.pool.place(w)}, {span(self.groups[w])}) {reason}"

    def _close_because(self, what: str) -> None:
        self.why_closed = what
        self.close(grace=0.0)


class Progress:
    """Tells now and then how far the making of many workers is, ever more rarely."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._begun = time.monotonic()
        self._next = PROGRESS_SECONDS

    def tell(self, ready: int) -> None:
        """Say how many are ready, if it is time for it."""
        spent = time.monotonic() - self._begun
        if self._count >= MANY and ready < self._count and spent >= self._next:
            log.warning("%d of %d workers are ready after %.0f s", ready, self._count, spent)
            self._next = 2 * spent


def making_seconds(setup: Setup) -> float:
    """Return how long a worker may take to make its environments."""
    longest = max(map(len, setup.groups()))
    return max(MAKING_SECONDS, (setup.timeout or 0.0) * longest)


def span(indices: Sequence[int]) -> str:
    """Name consecutive environments: "environment 3" or "environments 4-7"."""
    if len(indices) == 1:
        return f"environment {indices[0]}"
    return f"environments {indices[0]}-{indices[-1]}"
