"""Starting a worker process, and the first and last things it does, whatever its work is.

A worker never outlives its caller. While idle it sees its command pipe close; inside its work, even if that is stuck,
the kernel's signal for the closed *lifeline* ends it: a pipe whose other end only the caller holds.

Every worker has pipes of its own, so one that is killed leaves nothing locked: its pipes break, and that is all.
"""

import fcntl
import multiprocessing
import os
import pickle
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.util import get_temp_dir
from typing import Any

from garrison.workers import channel, fork_server, pin, startup_errors
from garrison.workers.faults import Failure
from garrison.workers.memory import SharedMemory
from garrison.workers.pickling import pack
from garrison.workers.startup_errors import RealStderr


@dataclass(frozen=True)
class WorkerPipes:
    """A worker's connections to its caller."""

    commands: Connection
    replies: Connection
    lifeline: Connection
    memory: SharedMemory
    inherited: tuple[Connection, ...] = ()
    """Under fork: the caller's own ends, which the worker must close."""
    stderr: RealStderr | None = None
    """Not under fork: the caller's standard error, which the worker takes when its work begins."""


@dataclass(frozen=True)
class Launch:
    """How the processes of a pool are started."""

    target: Callable[[Any, WorkerPipes], None]
    """An importable function; called with a task and the worker's pipes."""
    start_method: str
    name: str = "worker"
    is_daemon: bool = True
    """Daemons may not have children of their own."""
    preload: tuple[str, ...] = ()
    """Modules that the fork server imports once for all workers."""
    contents: str = "a task"
    """What a task is, in the error that it cannot be sent to another process."""

    def start(self, task: Any, number: int, memory: SharedMemory, others: Iterable["WorkerHandle"]) -> "WorkerHandle":
        """Start a process that runs `target(task, pipes)`; `others` are those started before it."""
        context: Any = multiprocessing.get_context(self.start_method)
        variables = {}
        if self.start_method == "forkserver":
            context.set_forkserver_preload([fork_server.__name__, *self.preload])
            if multiprocessing.parent_process() is None:  # children use the folder of their parent
                variables = {fork_server.FOLDER: get_temp_dir()}
        is_fork = self.start_method == "fork"
        work = (self.target, task) if is_fork else pack((self.target, task), self.contents)
        commands_in, commands_out = context.Pipe(duplex=False)
        replies_in, replies_out = context.Pipe(duplex=False)
        lifeline_in, lifeline_out = context.Pipe(duplex=False)
        inherited: tuple[Connection, ...] = ()
        if is_fork:
            theirs = [pipe for other in others for pipe in other.pipes() if not pipe.closed]
            inherited = (*theirs, commands_out, replies_in, lifeline_out)
        name = f"garrison-{self.name}-{number}"
        words = startup_errors.mark()
        with pin.environment(variables), nullcontext() if is_fork else startup_errors.collected() as stderr:
            pipes = WorkerPipes(commands_in, replies_out, lifeline_in, memory, inherited, stderr)
            process = context.Process(target=run, args=(work, pipes), name=name, daemon=self.is_daemon)
            process.start()
        # Closed here at once: a worker's end must be the only one, so that its pipe breaks when it dies.
        for pipe in (commands_in, replies_out, lifeline_in):
            pipe.close()
        return WorkerHandle(process, commands_out, replies_in, lifeline_out, *_exit_descriptor(process), words)


@dataclass
class WorkerHandle:
    """One worker process and the caller's ends of its pipes."""

    process: BaseProcess
    commands: Connection
    replies: Connection
    lifeline: Connection
    exit_descriptor: int
    """Becomes readable when the process ends."""
    owns_exit_descriptor: bool
    words: int
    """Where its first words to standard error would begin, see `startup_stderr`."""

    def pipes(self) -> tuple[Connection, Connection, Connection]:
        """Return the caller's ends."""
        return self.commands, self.replies, self.lifeline

    def end(self, grace: float = 0.0) -> None:
        """Wait a moment for the process to end, kill it if it does not, and close its pipes."""
        self.process.join(grace)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        for pipe in self.pipes():
            pipe.close()
        if self.owns_exit_descriptor:
            os.close(self.exit_descriptor)
        self.process.close()


def run(work: bytes | tuple[Callable[[Any, WorkerPipes], None], Any], pipes: WorkerPipes) -> None:
    """Do the work of a worker process, and tell the caller if that raises; the target of every process."""
    if pipes.stderr is not None:
        pipes.stderr.take()
    attach_to_caller(pipes)
    try:
        target, task = pickle.loads(work) if isinstance(work, bytes) else work
        target(task, pipes)
    except (EOFError, BrokenPipeError):
        pass  # the caller is gone
    except Exception as error:
        with suppress(BrokenPipeError):
            channel.send(pipes.replies, channel.FAILED, pickle.dumps(Failure.of(error)))


def attach_to_caller(pipes: WorkerPipes) -> None:
    """Make this process end with its caller, leave Ctrl-C to it, and compute with one thread."""
    for pipe in pipes.inherited:
        pipe.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the caller, who then ends the workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # macOS ignores SIGIO by default; Linux ends the process, whatever it is doing, without help of the interpreter.
    signal.signal(signal.SIGIO, signal.SIG_DFL if sys.platform == "linux" else lambda *_: os._exit(1))
    lifeline = pipes.lifeline.fileno()
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if has_input(lifeline):  # it closed before the signal was set
        os._exit(1)
    pin.this_process()


def has_input(descriptor: int) -> bool:
    """Return whether reading from a descriptor would not wait; the end of a pipe counts."""
    poll = select.poll()  # select() cannot take descriptors above 1023
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def look_for_input(poll: "select.poll", seconds: float) -> None:
    """Return when there is something to read, or after this time; nobody sleeps, so nobody has to be woken.

    Whoever else wants this core has it meanwhile.
    """
    until = time.perf_counter() + seconds
    while not poll.poll(0) and time.perf_counter() < until:
        _offer_core()


def _nothing() -> None:
    pass


_offer_core: Callable[[], None] = getattr(os, "sched_yield", _nothing)  # not on every system


def _exit_descriptor(process: BaseProcess) -> tuple[int, bool]:
    # A process descriptor tells the end of this very process; the sentinel, a pipe, would be kept open by
    # any process that the worker itself has forked.
    if hasattr(os, "pidfd_open"):
        with suppress(OSError):
            assert process.pid is not None
            return os.pidfd_open(process.pid), True
    return process.sentinel, False
