"""Replaces workers that raise, die or get stuck, and gives up when that does not help."""

import pickle
import time
from collections import deque
from collections.abc import Callable

from garrison.formatting import plural
from garrison.workers import channel
from garrison.workers.channel import Message
from garrison.workers.faults import EnvFailed
from garrison.workers.pool import GRACE_SECONDS, Pool

MANY, SHORT_SECONDS = 5, 60.0
"""This many replacements for the same reason within this many seconds, and replacing does not help."""


class Supervisor:
    """Keeps the workers of a pool going.

    Args:
        pool: the workers, processes or Ray actors.
        name: of a worker, in sentences, such as "actor".
        begin: called with a worker's number when it has been replaced, to send it what it begins with.
        spare: replacements for the same reason that are allowed beyond `MANY`: what is lost with one machine.
    """

    def __init__(self, pool: Pool, name: str, begin: Callable[[int], None], spare: int = 0) -> None:
        self._pool, self._name, self._begin, self._spare = pool, name, begin, spare
        self._inbox: deque[Message] = deque()
        self._events: list[str] = []
        self._reasons: deque[tuple[float, str]] = deque()
        self.replaced = 0
        """How many workers have been replaced so far."""

    def receive(self, timeout: float) -> Message | None:
        """Return the next message of any worker, or None after `timeout` seconds; replaces workers that failed."""
        deadline = time.monotonic() + timeout
        while True:
            while self._inbox:
                message = self._inbox.popleft()
                if message.opcode == channel.DIED:
                    reason, words = self._pool.exit_reason(message.worker), self._pool.startup_stderr(message.worker)
                    self._replace(message.worker, reason, words)
                elif message.opcode == channel.FAILED:
                    self._replace_failed(message)
                else:
                    return message
            left = deadline - time.monotonic()
            self._inbox.extend(self._pool.poll(max(0.0, left)))
            if not self._inbox and left <= 0:
                return None

    def check(self) -> list[str]:
        """Replace workers that are stuck; return what has happened since the last call, a sentence each."""
        watchdog = self._pool.watchdog
        late = watchdog.late(self._pool.running())
        if late:
            self._inbox.extend(self._pool.poll(0.0))  # what they said may lie unread, because nobody listened
            heard = {message.worker for message in self._inbox}
            for worker in late:
                if worker not in heard:
                    self._replace(worker, f"has not been heard of for {watchdog.allowed(worker):g} s")
        events, self._events = self._events, []
        return events

    def report(self, worker: int, what: str) -> None:
        """Note what happened to a worker, for the next `check`."""
        self._events.append(f"{self._who(worker)}: {what}")

    def _who(self, worker: int) -> str:
        place = self._pool.place(worker)
        return f"{self._name} {worker} ({place})" if place else f"{self._name} {worker}"

    def _replace_failed(self, message: Message) -> None:
        failure = pickle.loads(message.payload)
        if failure.input_error:
            failure.raise_()
        # It has said why and is about to end.
        self._replace(message.worker, failure.what, failure.details, GRACE_SECONDS)

    def _replace(self, worker: int, reason: str, details: str = "", grace: float = 0.0) -> None:
        self._inbox = deque(message for message in self._inbox if message.worker != worker)
        now = time.monotonic()
        self._reasons.append((now, reason))
        while now - self._reasons[0][0] > SHORT_SECONDS:
            self._reasons.popleft()
        same = sum(each == reason for _, each in self._reasons)
        if same >= MANY + self._spare:
            who = f"{plural(same, self._name)} in {SHORT_SECONDS:g} s"
            raise EnvFailed(
                f"{who} failed for the same reason; the last: {self._who(worker)}: {reason}", details=details
            )
        self.report(worker, f"{reason}; another one takes its place")
        self._pool.restart(worker, grace)
        self.replaced += 1
        self._begin(worker)
