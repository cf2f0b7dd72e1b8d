"""The caller's side of worker processes: starting them, hearing of them and of their end, restarting, ending them."""

import atexit
import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from garrison.workers import channel, ctrl_c, startup_errors
from garrison.workers.channel import Message
from garrison.workers.faults import describe_exit
from garrison.workers.launch import Launch, WorkerHandle
from garrison.workers.memory import SharedMemory
from garrison.workers.watchdog import STARTING_SECONDS, Watchdog

GRACE_SECONDS = 2.0
"""How long workers may take to end by themselves before they are killed."""


class Pool(Protocol):
    """What pools of processes and of Ray actors have in common."""

    watchdog: Watchdog

    @property
    def pids(self) -> list[int]:
        """The process id of each worker, on its machine; 0 for one that has none yet."""

    def running(self) -> list[int]:
        """Return the workers that have a process."""

    def poll(self, timeout: float | None) -> Iterator[Message]:
        """Wait until any worker says something or dies, at most `timeout` seconds, and yield everything there is.

        A worker's `DIED` comes after its last message, and once.
        """

    def place(self, worker: int) -> str:
        """Return where a worker runs, such as "process 7"."""

    def exit_reason(self, worker: int) -> str:
        """Return how a worker died, to be read after its name."""

    def startup_stderr(self, worker: int) -> str:
        """Return what a worker that died while it started wrote to standard error."""

    def restart(self, worker: int, grace: float = 0.0) -> None:
        """End a worker, if it has not ended within `grace` seconds, and start another one in its place."""

    def close(self, grace: float = GRACE_SECONDS) -> None:
        """End every worker: ask, wait a moment, kill. Safe to call twice."""


class WorkerPool:
    """A fixed number of worker processes; implements `Pool`.

    Args:
        count: how many.
        launch: how they are started.
        task_of: returns the task of a worker from its number and the number of workers started before it, so that a
            replacement can do otherwise than the one before it.
        memory: shared with all of them; closed with the pool.
        timeout: seconds of silence after which a worker that owes an answer is late; None waits without a limit.
        starting_seconds: the same until its first message.
    """

    def __init__(
        self,
        count: int,
        launch: Launch,
        task_of: Callable[[int, int], Any],
        memory: SharedMemory,
        timeout: float | None,
        starting_seconds: float = STARTING_SECONDS,
    ) -> None:
        self.memory = memory
        self.watchdog = Watchdog(count, timeout, starting_seconds)
        self._launch, self._task_of = launch, task_of
        self._owner = os.getpid()
        self._poll = select.poll()
        self._roles: dict[int, tuple[int, bool]] = {}  # descriptor -> worker, whether it tells the worker's end
        self._workers: dict[int, WorkerHandle] = {}
        self._unsent: dict[int, bytes] = {}  # by worker: what its pipe did not take yet
        self._starts = 0
        self._closed = False
        # Handlers run in reverse order: this one before multiprocessing's, which waits for workers that are no daemons.
        atexit.register(self.close)
        ctrl_c.undo_with(partial(self.close, grace=0.0))
        try:
            for worker in range(count):
                self._start(worker)
        except BaseException:
            self.close(grace=0.0)
            raise

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers."""
        return [self._workers[worker].process.pid or 0 for worker in sorted(self._workers)]

    def running(self) -> list[int]:
        """Return the workers that have a process: all of them."""
        return list(self._workers)

    def send(self, worker: int, opcode: bytes, payload: bytes = b"") -> None:
        """Send a worker a message, or what its pipe takes of it: `poll` sends the rest. If it is gone, `poll` says so.

        Nobody waits here: a worker reads no more while it waits itself until what it says is read.
        """
        self.watchdog.expect(worker)
        message = channel.frame(opcode, payload)
        if worker in self._unsent:
            self._unsent[worker] += message
            return
        descriptor = self._workers[worker].commands.fileno()
        with suppress(BrokenPipeError):
            sent = _write(descriptor, message)
            if sent < len(message):
                self._unsent[worker] = message[sent:]
                self._poll.register(descriptor, select.POLLOUT)

    def poll(self, timeout: float | None) -> Iterator[Message]:
        """Wait until any worker says something or dies, at most `timeout` seconds, and yield everything there is."""
        ended = []
        for descriptor, event in self._poll.poll(None if timeout is None else timeout * 1000):
            worker, is_exit = self._roles[descriptor]
            if event & select.POLLOUT:
                self._send_rest(worker)
                continue
            message = None if is_exit else self._receive(worker)
            if message is None:
                ended.append(worker)
            else:
                yield message
        for worker in dict.fromkeys(ended):
            if not self._has_unread(worker):  # its last messages come first; its end will be seen again
                self._stop_listening(worker)
                yield Message(worker, channel.DIED, b"")

    def poll_one(self, worker: int, timeout: float | None) -> Message | None:
        """Wait for a message of one worker, or its death, leaving what others say in their pipes."""
        handle = self._workers[worker]
        poll = select.poll()
        for descriptor in (handle.replies.fileno(), handle.exit_descriptor):
            poll.register(descriptor, select.POLLIN)
        if worker in self._unsent:
            poll.register(handle.commands.fileno(), select.POLLOUT)
        events = poll.poll(None if timeout is None else timeout * 1000)
        if any(event & select.POLLOUT for _, event in events):
            self._send_rest(worker)
        if not any(event & ~select.POLLOUT for _, event in events):
            return None
        message = self._receive(worker) if self._has_unread(worker) else None
        if message is None:
            self._stop_listening(worker)
            return Message(worker, channel.DIED, b"")
        return message

    def place(self, worker: int) -> str:
        """Return which process a worker is."""
        return f"process {self._workers[worker].process.pid}"

    def exit_reason(self, worker: int) -> str:
        """Return how a worker died, to be read after its name."""
        process = self._workers[worker].process
        process.join(1.0)  # its pipes close a moment before it can be waited for
        words = self.startup_stderr(worker)
        return describe_exit(process.exitcode) + (f": {startup_errors.reason(words)}" if words else "")

    def startup_stderr(self, worker: int) -> str:
        """Return what a worker that died while it started wrote to standard error; later it writes to the real one."""
        return startup_errors.since(self._workers[worker].words) if worker in self.watchdog.starting else ""

    def restart(self, worker: int, grace: float = 0.0) -> None:
        """End a worker, if it has not ended within `grace` seconds, and start another one in its place."""
        self._stop_listening(worker)
        with ctrl_c.deferred():
            self._workers.pop(worker).end(grace)
        self._start(worker)

    def close(self, grace: float = GRACE_SECONDS) -> None:
        """End every worker: ask, wait a moment, kill. Safe to call twice, and does nothing in forked copies."""
        if self._closed or os.getpid() != self._owner:
            return
        with ctrl_c.deferred():
            self._closed = True
            atexit.unregister(self.close)
            for handle in self._workers.values():
                with suppress(OSError):
                    channel.send(handle.commands, channel.EXIT)
            deadline = time.monotonic() + grace
            for handle in self._workers.values():
                handle.end(max(0.0, deadline - time.monotonic()))
            self.memory.close()

    def _start(self, worker: int) -> None:
        task = self._task_of(worker, self._starts)
        with ctrl_c.deferred():  # a process that runs is one that this pool knows
            handle = self._launch.start(task, worker, self.memory, self._workers.values())
            self._workers[worker] = handle
        self._starts += 1
        for descriptor, is_exit in ((handle.replies.fileno(), False), (handle.exit_descriptor, True)):
            self._roles[descriptor] = worker, is_exit
            self._poll.register(descriptor, select.POLLIN)
        self._roles[handle.commands.fileno()] = worker, False
        os.set_blocking(handle.commands.fileno(), False)
        self.watchdog.started(worker)

    def _receive(self, worker: int) -> Message | None:
        try:
            opcode, payload = channel.receive(self._workers[worker].replies)
        except (EOFError, OSError):
            return None
        self.watchdog.heard(worker)
        if opcode in channel.FINAL:
            self.watchdog.finished(worker)
        return Message(worker, opcode, payload)

    def _send_rest(self, worker: int) -> None:
        """Go on with what the pipe of a worker did not take before."""
        rest, descriptor = self._unsent[worker], self._workers[worker].commands.fileno()
        try:
            rest = rest[_write(descriptor, rest) :]
        except BrokenPipeError:
            rest = b""  # its end will be seen
        self._unsent[worker] = rest
        if not rest:
            self._forget_unsent(worker)

    def _forget_unsent(self, worker: int) -> None:
        if self._unsent.pop(worker, None) is not None:
            self._poll.unregister(self._workers[worker].commands.fileno())

    def _has_unread(self, worker: int) -> bool:
        poll = select.poll()
        poll.register(self._workers[worker].replies.fileno(), select.POLLIN)
        return any(event & select.POLLIN for _, event in poll.poll(0))

    def _stop_listening(self, worker: int) -> None:
        """Forget the descriptors of a dead worker: they would stay readable and make every wait return at once."""
        self.watchdog.finished(worker)
        self._forget_unsent(worker)
        handle = self._workers[worker]
        self._roles.pop(handle.commands.fileno(), None)
        for descriptor in (handle.replies.fileno(), handle.exit_descriptor):
            if self._roles.pop(descriptor, None):
                self._poll.unregister(descriptor)


def _write(descriptor: int, message: bytes) -> int:
    """Write what a pipe takes at once and return how much that was."""
    try:
        return os.write(descriptor, message)
    except BlockingIOError:
        return 0
