"""`joint`: `shared`, but the caller steps the first group itself instead of sleeping until the others have stepped.

On as many cores as there are groups nobody then has to share one, and on cheap steps nobody has to be woken: caller and
workers look for each other's messages for some microseconds before they go to sleep. The first group lives and dies
with this process, and nothing watches how long it takes.
"""

import os
import pickle
from collections.abc import Callable, Iterator
from typing import Any

from garrison.vector import messages
from garrison.vector.backends.shared import SharedEnvs
from garrison.vector.base import Setup
from garrison.vector.buffers import BufferPlan, Buffers
from garrison.vector.env_workers import AWAKE_SECONDS, ProcessEnvPool
from garrison.vector.group import Entries
from garrison.vector.worker import EnvHost, WorkerTask, encode_result
from garrison.workers import channel
from garrison.workers.channel import Message
from garrison.workers.faults import Failure
from garrison.workers.launch import look_for_input
from garrison.workers.pool import GRACE_SECONDS

CALLER = 0
"""The worker that is no process."""


class CallersGroup(EnvHost):
    """The environments that the caller steps, over the buffers of all."""

    def __init__(self, task: WorkerTask, all_buffers: Callable[[], Buffers]) -> None:
        super().__init__(task)
        self._all_buffers = all_buffers

    def attach(self, plan: BufferPlan, _private: bool) -> None:
        """Take the rows of these environments."""
        self.use(self._all_buffers().part(self._task.first, len(self._envs), self._task.number), plan.timing)

    def step(self) -> Entries | None:
        """Step all of them."""
        return self._group.step() or None


class JointPool(ProcessEnvPool):
    """Worker processes, and as worker 0 the caller: what that one is told is done when somebody waits for it."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._group: CallersGroup | None = None
        self._orders: list[tuple[str, tuple[Any, ...]]] = []  # for the caller: methods of its group, and arguments
        super().__init__(setup)

    def running(self) -> list[int]:
        """Return all workers."""
        return [CALLER, *super().running()]

    def send(self, worker: int, opcode: bytes, payload: bytes = b"") -> None:
        """Send a worker a message; one to the caller waits here."""
        if worker != CALLER:
            super().send(worker, opcode, payload)
        else:
            self._orders.append(("step", ()) if opcode == messages.STEP else pickle.loads(payload))

    def poll(self, timeout: float | None) -> Iterator[Message]:
        """Do what the caller has been told, or wait for the others; yield everything that there is to say."""
        has_worked = False
        for message in self._carry_out():
            has_worked = True
            yield message
        if not has_worked:
            look_for_input(self._poll, AWAKE_SECONDS if timeout is None else min(timeout, AWAKE_SECONDS))
        yield from super().poll(0.0 if has_worked else timeout)

    def poll_one(self, worker: int, timeout: float | None) -> Message | None:
        """Wait for a message of one worker, leaving what others say for later."""
        return next(self._carry_out(), None) if worker == CALLER else super().poll_one(worker, timeout)

    def place(self, worker: int) -> str:
        """Return which process a worker is."""
        return "this process" if worker == CALLER else super().place(worker)

    def close(self, grace: float = GRACE_SECONDS) -> None:
        """End every worker, and close the caller's environments. Safe to call twice."""
        super().close(grace)
        group, self._group = self._group, None
        if group is not None and os.getpid() == self._owner:
            group.close()

    def _start(self, worker: int) -> None:
        if worker == CALLER:
            self._orders.append(("make", ()))  # when the others have been started: forked copies should have none of it
        else:
            super()._start(worker)

    def _carry_out(self) -> Iterator[Message]:
        while self._orders:
            name, arguments = self._orders.pop(0)
            try:
                result = self._do(name, arguments)
                payload = b"" if result is None else encode_result(result)
                yield Message(CALLER, channel.RESULT if payload else channel.DONE, payload)
            except Exception as error:
                yield Message(CALLER, channel.FAILED, pickle.dumps(Failure.of(error)))

    def _do(self, name: str, arguments: tuple[Any, ...]) -> Any:
        if name == "make":
            task = WorkerTask.of(self._setup, CALLER, is_packed=False)
            self._group = CallersGroup(task, lambda: self._buffers)
            return self._group.info
        return getattr(self._group, name)(*arguments)


class JointEnvs(SharedEnvs):
    """Steps all groups at once, the first of them here."""

    backend = "joint"
    open_pool = JointPool
