"""Processes that work for a learner: started, listened to, and replaced when they raise, die or get stuck.

Every process has its own three pipes, so one that is killed in the middle of anything leaves nothing locked: its pipes
break, and that is all. See `garrison.vector.worker` for how a process notices the end of its parent.
"""

import atexit
import multiprocessing
import os
import pickle
import select
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import cloudpickle

from garrison.errors import UserError
from garrison.vector.buffers import Memory
from garrison.vector.worker import Lines, settle_in
from garrison.workers import channel
from garrison.workers.faults import EnvFailed, Failure, manner_of_death
from garrison.workers.pool import DIED, Member, launch

STARTING_SECONDS = 300.0
"""How long a process may take until its first message: it imports, makes its environments and may have to compile."""
GRACE_SECONDS = 1.0
"""How long processes may take to end by themselves before they are killed."""
MANY, SHORT_SECONDS = 5, 60.0
"""So many replacements for the same reason within so many seconds, and replacing does not help."""

Message = tuple[int, bytes, bytes]  # place, opcode, payload
Target = Callable[[Any, int, int, Lines], None]


class Supervisor:
    """A fixed number of places, each held by a process that runs `target(task, place, start, lines)`.

    `start` counts the processes ever started, so a replacement can do otherwise than the one before it.

    Args:
        target: an importable function.
        task: its first argument, the same for all; what cannot be imported in it is pickled by value.
        places: how many processes.
        memory: shared with all of them.
        timeout: seconds after which a process that owes a message counts as stuck.
        begin: called with its place when a process has been started, to send it what it begins with.
        name: of a process, in sentences: "actor", "worker".
    """

    def __init__(
        self,
        target: Target,
        task: Any,
        places: int,
        memory: Memory,
        timeout: float,
        begin: Callable[[int], None],
        name: str,
    ) -> None:
        self._pickled = _dump((target, task))
        self._memory, self._timeout, self._begin, self._name = memory, timeout, begin, name
        self._context: Any = _context()
        self._owner = os.getpid()
        self._poll = select.poll()
        self._place_of: dict[int, int] = {}  # descriptor -> place
        self._members: dict[int, Member] = {}
        self._inbox: deque[Message] = deque()
        self._last_words: dict[int, Failure] = {}
        self._since = [0.0] * places
        self._owes = [True] * places
        self._has_begun = [False] * places
        self._starts = 0
        self._events: list[str] = []
        self._reasons: deque[tuple[float, str]] = deque()
        self.replaced = 0
        self._closed = False
        atexit.register(self.close)
        try:
            for place in range(places):
                self._start(place)
        except BaseException:
            self.close()
            raise

    @property
    def pids(self) -> list[int]:
        """The process ids, in order of places."""
        return [self._members[place].process.pid or 0 for place in sorted(self._members)]

    def send(self, place: int, opcode: bytes, payload: bytes = b"") -> None:
        """Send a message; if the process is gone, that will show in `receive`."""
        with suppress(BrokenPipeError):
            channel.send(self._members[place].commands, opcode, payload)

    def owes(self, place: int, something: bool) -> None:
        """Say whether the process has something to do, so that silence means that it is stuck."""
        if something and not self._owes[place]:
            self._since[place] = time.monotonic()
        self._owes[place] = something

    def receive(self, timeout: float) -> Message | None:
        """Return the next message of any process, or None after `timeout` seconds; replaces processes that died."""
        deadline = time.monotonic() + timeout
        while True:
            while self._inbox:
                place, opcode, payload = self._inbox.popleft()
                if opcode == DIED:
                    self._replace(place, None)
                else:
                    self._has_begun[place] = True
                    return place, opcode, payload
            left = deadline - time.monotonic()
            if not self._take_in(max(0.0, left)) and left <= 0:
                return None

    def check(self) -> list[str]:
        """Replace processes that are stuck; return what has happened since the last call, a sentence each."""
        now = time.monotonic()
        late = [
            place
            for place in range(len(self._owes))
            if self._owes[place] and now - self._since[place] > self._allowed(place)
        ]
        if late:
            self._take_in(0.0)  # the silence may be ours: what they said lies unread
            spoken = {place for place, _, _ in self._inbox}
            for place in late:
                if place not in spoken:
                    self._replace(place, f"has not been heard of for {self._allowed(place):g} s")
        events, self._events = self._events, []
        return events

    def close(self) -> None:
        """End every process: ask, wait a moment, kill. Safe to call twice, and a no-op in forked copies."""
        if self._closed or os.getpid() != self._owner:
            return
        self._closed = True
        atexit.unregister(self.close)
        for place in self._members:
            self.send(place, channel.EXIT)
        deadline = time.monotonic() + GRACE_SECONDS
        for member in self._members.values():
            member.process.join(max(0.0, deadline - time.monotonic()))
            _end(member)
        self._memory.close()

    def _start(self, place: int) -> None:
        task = (self._pickled, place, self._starts)
        others = list(self._members.values())
        name = f"garrison-{self._name}-{place}"
        # Not a daemon: those may not have children, and a vector environment may have workers.
        member = launch(self._context, _serve, task, self._memory, others, name, daemon=False)
        self._starts += 1
        self._members[place] = member
        for descriptor in (member.replies.fileno(), member.death):
            self._place_of[descriptor] = place
            self._poll.register(descriptor, select.POLLIN)
        self._since[place] = time.monotonic()
        self._owes[place], self._has_begun[place] = True, False
        self._begin(place)

    def _allowed(self, place: int) -> float:
        return self._timeout if self._has_begun[place] else max(STARTING_SECONDS, self._timeout)

    def _take_in(self, timeout: float) -> bool:
        """Move what processes have said, and who died, into the inbox, in order; say whether there was anything."""
        events = self._poll.poll(timeout * 1000)
        for descriptor, _ in events:
            place = self._place_of.get(descriptor)
            if place is None:
                continue
            is_death = descriptor == self._members[place].death
            while self._listen(place) and is_death:  # what it managed to say comes before its death
                pass
            if is_death:
                self._stop_listening(place)
                self._inbox.append((place, DIED, b""))
        return bool(events)

    def _listen(self, place: int) -> bool:
        """Take in one message; say whether there was one."""
        replies = self._members[place].replies
        if replies.fileno() not in self._place_of or not replies.poll():
            return False
        try:
            opcode, payload = channel.receive(replies)
        except (EOFError, OSError):  # closed; its death will be told by the other descriptor
            self._poll.unregister(replies.fileno())
            del self._place_of[replies.fileno()]
            return False
        self._since[place] = time.monotonic()
        if opcode == channel.FAILED:
            failure = pickle.loads(payload)
            if failure.is_input:
                failure.raise_()
            self._last_words[place] = failure
        else:
            self._inbox.append((place, opcode, payload))
        return True

    def _stop_listening(self, place: int) -> None:
        member = self._members[place]
        for descriptor in (member.replies.fileno(), member.death):
            if self._place_of.pop(descriptor, None) is not None:
                self._poll.unregister(descriptor)

    def _replace(self, place: int, complaint: str | None) -> None:
        """Start another process in the place of one that died or about which there is a complaint."""
        member = self._members[place]
        pid = member.process.pid
        self._stop_listening(place)
        failure = self._last_words.pop(place, None)
        if complaint is None:
            member.process.join(GRACE_SECONDS)
            complaint = failure.summary if failure else manner_of_death(member.process.exitcode)
        _end(member)
        del self._members[place]
        who = f"{self._name} {place} (process {pid})"
        now = time.monotonic()
        self._reasons.append((now, complaint))
        while now - self._reasons[0][0] > SHORT_SECONDS:
            self._reasons.popleft()
        if sum(reason == complaint for _, reason in self._reasons) >= MANY:
            what = f"{MANY} {self._name}s in {SHORT_SECONDS:g} s came to the same end; the last: {who}: {complaint}"
            raise EnvFailed(None, what, failure.details if failure else "")
        self._start(place)
        self.replaced += 1
        self._events.append(f"{who}: {complaint}; another one takes its place")


def _serve(task: tuple[bytes, int, int], lines: Lines) -> None:
    """Be a process of a supervisor."""
    settle_in(lines)
    pickled, place, start = task
    try:
        target, argument = pickle.loads(pickled)
        target(argument, place, start, lines)
    except (EOFError, BrokenPipeError):
        pass  # the parent is gone
    except Exception as error:
        with suppress(BrokenPipeError):
            channel.send(lines.replies, channel.FAILED, pickle.dumps(_failure(error)))


def _failure(error: Exception) -> Failure:
    failure = Failure.of(error)
    return Failure(
        failure.index, failure.summary.replace("a worker raised", "raised"), failure.details, failure.is_input
    )


def _end(member: Member) -> None:
    if member.process.exitcode is None:
        member.process.kill()
        member.process.join()
    member.release()


def _context() -> Any:
    # A fork of a learner would copy locks that its threads hold. The fork server has no threads, and when it has
    # imported the learner's modules once, a process starts in a tenth of a second instead of several.
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", "garrison.learn.actors.local", "garrison.learn.a3c"])
    return context


def _dump(work: tuple[Target, Any]) -> bytes:
    try:
        dumped: bytes = cloudpickle.dumps(work)
        return dumped
    except Exception as error:
        raise UserError(
            f"what makes the environments cannot be sent to another process: {error}. Build what it needs inside it."
        ) from error
