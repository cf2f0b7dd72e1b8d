"""The caller's side of the worker processes: starting them, waiting for them, noticing when one dies or is stuck."""

import logging
import multiprocessing
import os
import pickle
import select
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import cloudpickle

from garrison.errors import UserError
from garrison.vector.base import Card, Setup
from garrison.vector.buffers import Block, Memory, Plan, size
from garrison.vector.group import POSITION_BITS
from garrison.vector.worker import Lines, Task, work
from garrison.workers import channel, pin
from garrison.workers.faults import EnvFailed, EnvTimeout, WorkerDied, manner_of_death, span

DIED = b"died"
"""The opcode that `collect` yields for a worker that is no more."""
MAKING_SECONDS = 60.0
"""How long a worker may take to start and make its environments, whatever the timeout of a step."""
GRACE_SECONDS = 2.0
"""How long workers may take to close their environments before they are killed."""

log = logging.getLogger("garrison.vector")


@dataclass
class Member:
    """One worker process and this side of its lines."""

    process: BaseProcess
    commands: Connection
    replies: Connection
    lifeline: Connection
    death: int
    """A descriptor that becomes readable when the process ends."""
    owns_death: bool

    def release(self) -> None:
        """Close the lines of a process that has ended."""
        for line in (self.commands, self.replies, self.lifeline):
            line.close()
        if self.owns_death:
            os.close(self.death)
        self.process.close()


def launch(
    context: Any,
    target: Callable[[Any, Lines], None],
    task: Any,
    memory: Memory,
    others: Sequence[Member],
    name: str,
    daemon: bool = True,
) -> Member:
    """Start a process that runs `target(task, lines)`; `others` are those started before it."""
    commands_in, commands_out = context.Pipe(duplex=False)
    replies_in, replies_out = context.Pipe(duplex=False)
    lifeline_in, lifeline_out = context.Pipe(duplex=False)
    strangers: tuple[Connection, ...] = ()
    if context.get_start_method() == "fork":
        inherited = [line for m in others for line in (m.commands, m.replies, m.lifeline) if not line.closed]
        strangers = (*inherited, commands_out, replies_in, lifeline_out)
    lines = Lines(commands_in, replies_out, lifeline_in, memory, strangers)
    process = context.Process(target=target, args=(task, lines), name=name, daemon=daemon)
    with pin.environment():
        process.start()
    # Closed here at once: a worker's end must be the only one, so that its pipe breaks when it dies.
    for line in (commands_in, replies_out, lifeline_in):
        line.close()
    return Member(process, commands_out, replies_in, lifeline_out, *_death_of(process))


class Crew:
    """All workers of one vector environment."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._context: Any = multiprocessing.get_context(setup.start_method)
        self._owner = os.getpid()
        self._memory = Memory()
        self._poll = select.poll()
        self._roles: dict[int, tuple[int, bool]] = {}  # descriptor -> worker, whether it tells of death
        self.sections = setup.sections()
        self.members: list[Member] = []
        self._pending: set[int] = set()
        self._positions = [0] * setup.workers
        self._since = [0.0] * setup.workers
        self._next_look = 0.0
        self._making: set[int] = set()  # workers that have not yet made their environments
        self._plan: tuple[Plan, bool] | None = None
        self._closed = False
        try:
            for number in range(setup.workers):
                self.members.append(self._start(number))
            self.card = self._introductions()
        except BaseException:
            self.close(grace=0.0)
            raise
        counts = f"{setup.workers} workers for {setup.num_envs} environments"
        log.info("%s (%s); math libraries pinned to one thread per worker", counts, setup.start_method)

    def attach(self, plan: Plan, private: bool = False) -> Block:
        """Lay out the shared memory, tell every worker, and return the block."""
        self._plan = plan, private
        self.block = Block(plan, self._memory.map(size(plan)))
        self.command_all("attach", [(plan, private)] * len(self.members))
        return self.block

    def signal_all(self, opcode: bytes) -> None:
        """Send a bare message to every worker."""
        now = time.monotonic()
        for w, member in enumerate(self.members):
            self._expect(w, now)
            with suppress(BrokenPipeError):  # its death shows in collect
                channel.send(member.commands, opcode)

    def send(self, w: int, opcode: bytes, payload: bytes) -> None:
        """Send one worker a message with a payload."""
        self._expect(w, time.monotonic())
        with suppress(BrokenPipeError):
            channel.send(self.members[w].commands, opcode, payload)

    def command(self, w: int, name: str, arguments: tuple[Any, ...]) -> None:
        """Ask one worker to run one of its methods."""
        self.send(w, channel.COMMAND, dump((name, arguments)))

    def command_all(self, name: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Run a method on every worker and return the results in order; a death here is always an error."""
        self.settle()
        for w, each in enumerate(arguments):
            self.command(w, name, each)
        results: dict[int, Any] = {}
        failures = {}
        for w, opcode, payload in self.collect(set(range(len(arguments)))):
            if opcode == DIED:
                self.give_up(w, f"during {name!r}")
            elif opcode == channel.FAILED:
                failures[w] = pickle.loads(payload)
            else:
                results[w] = pickle.loads(payload) if payload else None
        if failures:
            failures[min(failures)].raise_()
        return [results[w] for w in sorted(results)]

    def settle(self) -> None:
        """Take in replies that an interrupted call (Ctrl-C) left behind, so that the next ones are the right ones."""
        for w, opcode, _ in self.collect(set(self._pending)):
            if opcode == DIED:
                self.give_up(w, "while idle")

    def collect(self, wanted: set[int]) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield (worker, opcode, payload) as replies come in, until each wanted worker has finished one or died.

        Raises EnvTimeout if a wanted worker has been at the same environment for longer than `timeout`.
        """
        waiting = set(wanted)
        while waiting:
            for w, opcode, payload in self.collect_some(waiting):
                waiting.discard(w)
                yield w, opcode, payload

    def collect_some(self, waiting: set[int]) -> Iterator[tuple[int, bytes, bytes]]:
        """Wait until at least one worker replies or dies, or for a while; yield what there is."""
        events = self._poll.poll(self._patience())
        deaths = []
        for descriptor, _ in events:
            w, is_death = self._roles[descriptor]
            message = None if is_death else self._receive(w)
            if message is None:
                deaths.append(w)
            else:
                yield w, *message
        for w in dict.fromkeys(deaths):
            if not self._unread(w):  # what it managed to say comes first; its death will be seen again
                self._stop_listening(w)
                yield w, DIED, b""
        if self._setup.timeout is not None:
            self._look_for_stuck(waiting)

    def finished(self, w: int) -> None:
        """Say that nothing more is expected of a worker (for `async`, which takes several replies per request)."""
        self._pending.discard(w)

    def replace(self, w: int, seeds: list[int | None]) -> None:
        """Start a new worker in the place of a dead one, with fresh episodes marked truncated.

        Raises WorkerDied and closes everything if the setup says so, or if the new one dies as well.
        """
        if not self._setup.restart:
            self.give_up(w, "")
        log.warning("%s; restarting it, its episodes are reported as truncated", self._epitaph(w))
        self._restart(w)
        self._expect(w, time.monotonic())
        self.wait_for(w, "again, right after its restart")
        self._making.discard(w)
        assert self._plan is not None
        for name, arguments in (("attach", self._plan), ("revive", (seeds,))):
            self.command(w, name, arguments)
            self.wait_for(w, "again, right after its restart")

    def wait_for(self, w: int, when: str) -> Any:
        """Wait for the reply of one worker, leaving what others say in their pipes; a death here is an error."""
        opcode, payload = self._message(w, when)
        if opcode == channel.FAILED:
            pickle.loads(payload).raise_()
        return pickle.loads(payload) if payload else None

    def flush(self, w: int) -> None:
        """Throw away what a worker still says about earlier requests, up to its answer to this one."""
        self.command(w, "nothing", ())
        while self._message(w, "after a failure")[0] != channel.DONE:
            pass

    def _message(self, w: int, when: str) -> tuple[bytes, bytes]:
        poll = select.poll()
        for descriptor in (self.members[w].replies.fileno(), self.members[w].death):
            poll.register(descriptor, select.POLLIN)
        while True:
            if poll.poll(self._patience()):
                message = self._receive(w) if self._unread(w) else None
                if message is not None:
                    return message
                self.give_up(w, when)
            elif self._setup.timeout is not None:
                self._look_for_stuck({w})

    def give_up(self, w: int, when: str) -> None:
        """Close everything and raise WorkerDied."""
        how = f"{self._epitaph(w)} {when}".strip()
        self.close(grace=0.0)
        hint = "; on_worker_death='restart' would go on with its environments reset and marked truncated"
        raise WorkerDied(f"{how}. The vector environment is closed{'' if self._setup.restart else hint}.")

    def close(self, grace: float = GRACE_SECONDS) -> None:
        """End every worker: ask, wait a moment, kill. Safe to call twice, and a no-op in forked copies."""
        if self._closed or os.getpid() != self._owner:
            return
        self._closed = True
        for member in self.members:
            with suppress(OSError):
                channel.send(member.commands, channel.EXIT)
        deadline = time.monotonic() + grace
        for member in self.members:
            member.process.join(max(0.0, deadline - time.monotonic()))
            if member.process.exitcode is None:
                member.process.kill()
                member.process.join()
            member.release()
        self._memory.close()

    def _start(self, number: int) -> Member:
        r = self.sections[number]
        makers = self._setup.makers[r.start : r.stop]
        fork = self._setup.start_method == "fork"
        task = Task(
            number, makers if fork else pickled(makers, r), r.start, self._setup.autoreset_mode, self._setup.extras
        )
        member = launch(self._context, work, task, self._memory, self.members, f"garrison-{number}")
        self._making.add(number)
        for descriptor, is_death in ((member.replies.fileno(), False), (member.death, True)):
            self._roles[descriptor] = (number, is_death)
            self._poll.register(descriptor, select.POLLIN)
        return member

    def _introductions(self) -> Card:
        """Wait until every worker has made its environments, and check that they are alike."""
        now = time.monotonic()
        cards: dict[int, Card] = {}
        for w in range(len(self.sections)):
            self._expect(w, now)
        for w, opcode, payload in self.collect(set(range(len(self.sections)))):
            if opcode == DIED:
                self.give_up(w, "while it made its environments")
            if opcode == channel.FAILED:
                pickle.loads(payload).raise_()
            cards[w] = pickle.loads(payload)
            self._making.discard(w)
        for w in range(1, len(cards)):
            cards[0].check(cards[w], self.sections[w].start)
        return cards[0]

    def _expect(self, w: int, now: float) -> None:
        self._pending.add(w)
        self._since[w] = now

    def _receive(self, w: int) -> tuple[bytes, bytes] | None:
        try:
            opcode, payload = channel.receive(self.members[w].replies)
        except (EOFError, OSError):
            return None
        if opcode not in (channel.READY, channel.READY_WITH):
            self._pending.discard(w)
        self._since[w] = time.monotonic()
        return opcode, payload

    def _unread(self, w: int) -> bool:
        poll = select.poll()
        poll.register(self.members[w].replies.fileno(), select.POLLIN)
        return any(event & select.POLLIN for _, event in poll.poll(0))

    def _patience(self) -> float | None:
        return None if self._setup.timeout is None else max(10.0, self._setup.timeout * 1000 / 8)

    def _look_for_stuck(self, waiting: set[int]) -> None:
        timeout = self._setup.timeout
        assert timeout is not None
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + timeout / 8
        for w in waiting:
            if w in self._making:
                allowed = max(MAKING_SECONDS, timeout * len(self.sections[w]))
            else:
                allowed = timeout
                position = self._position(w)
                if position != self._positions[w]:
                    self._positions[w] = position
                    self._since[w] = now
            if now - self._since[w] > allowed:
                raise EnvTimeout(self._blame(w, allowed))

    def _position(self, w: int) -> int:
        return int(self.block.positions[w])

    def _blame(self, w: int, timeout: float) -> str:
        if w in self._making:
            what = f"worker {w} has not made {span(self.sections[w])}"
        else:
            i = int(self.block.positions[w]) & ((1 << POSITION_BITS) - 1)
            what = f"environment {i} (worker {w}, process {self.members[w].process.pid}) has not returned"
        self.close(grace=0.0)
        hint = "the vector environment is closed. Raise timeout= if it is only slow."
        return f"{what} within {timeout:g} s; {hint}"

    def _epitaph(self, w: int) -> str:
        process = self.members[w].process
        pid = process.pid
        process.join(1.0)
        return f"worker {w} (process {pid}, {span(self.sections[w])}) {manner_of_death(process.exitcode)}"

    def _restart(self, w: int) -> None:
        self._bury(w)
        self.members[w] = self._start(w)

    def _bury(self, w: int) -> None:
        member = self.members[w]
        self._stop_listening(w)
        if member.process.exitcode is None:
            member.process.kill()
            member.process.join()
        member.release()

    def _stop_listening(self, w: int) -> None:
        """Forget the descriptors of a dead worker: they would stay readable and make every wait return at once."""
        self._pending.discard(w)
        for descriptor in (self.members[w].replies.fileno(), self.members[w].death):
            if self._roles.pop(descriptor, None):
                self._poll.unregister(descriptor)


def guard(owner: object, crew: Crew) -> "weakref.finalize[Any, Any]":
    """End the crew when `owner` is forgotten or the interpreter exits."""
    return weakref.finalize(owner, crew.close)


def _death_of(process: BaseProcess) -> tuple[int, bool]:
    # A process descriptor tells the death of this very process; the sentinel, a pipe, would be kept open by
    # any process that the environment itself has forked.
    if hasattr(os, "pidfd_open"):
        with suppress(OSError):
            assert process.pid is not None
            return os.pidfd_open(process.pid), True
    return process.sentinel, False


def pickled(makers: Sequence[Any], numbers: range) -> bytes:
    """Pickle the environments' callables for their worker, or name the one that cannot be sent."""
    try:
        dumped: bytes = cloudpickle.dumps(makers)
        return dumped
    except Exception as error:
        for i, maker in zip(numbers, makers, strict=True):
            try:
                cloudpickle.dumps(maker)
            except Exception as its_error:
                what = f"the callable of environment {i}, {maker!r}, cannot be sent to a worker process: {its_error}"
                hint = "Build what it needs inside the callable, or use start_method='fork' or backend='serial'."
                raise UserError(f"{what}. {hint}") from its_error
        raise UserError(f"the environments' callables cannot be sent to worker processes: {error}") from error


def dump(message: Any) -> bytes:
    """Pickle a message to a worker."""
    try:
        return pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception:
        try:
            dumped: bytes = cloudpickle.dumps(message)
            return dumped
        except Exception as error:
            raise EnvFailed(None, f"the arguments cannot be sent to a worker process: {error}") from error
