"""Ray actors that hold environments, as a pool of the vector backends.

One call per worker and step carries its actions; the reply carries its rows, which are copied into the caller's
buffers. Ray puts replies above 100 KB into the object store, where they are read in place; smaller ones travel with
the reply.
"""

import pickle
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrison.cluster.env_actor import EnvActor, Rows
from garrison.cluster.ray_pool import RayPool
from garrison.vector import messages, rows
from garrison.vector.base import Setup
from garrison.vector.buffers import BufferPlan, Buffers
from garrison.vector.env_workers import making_seconds
from garrison.vector.worker import WorkerTask
from garrison.workers import channel
from garrison.workers.channel import Message
from garrison.workers.pool import GRACE_SECONDS
from garrison.workers.watchdog import Watchdog

POSITION_SECONDS = 5.0
"""How long a silent actor may take to tell its position."""


@dataclass
class EnvTraffic:
    """What has gone to the workers and come back, counted by the caller."""

    calls: int = 0
    sent: int = 0
    """Bytes of actions and commands."""
    received: int = 0
    """Bytes of rows and infos."""


class RayEnvPool:
    """Ray actors behind the interface of worker processes; implements `garrison.vector.env_workers.EnvPool`."""

    _buffers: Buffers

    def __init__(self, setup: Setup) -> None:
        def task_of(number: int, _: int) -> tuple[WorkerTask, list[str]]:
            return WorkerTask.of(setup, number, is_packed=True), sys.path

        self.watchdog = Watchdog(setup.workers, setup.timeout, making_seconds(setup))
        self._groups = setup.groups()
        self._positions = [0] * setup.workers
        self.traffic = EnvTraffic()
        # A group of its own for `position`, which is asked while a step is at work.
        options = {"concurrency_groups": {"position": 1}}
        self._pool = RayPool(EnvActor, setup.workers, task_of, self.watchdog, options=options)

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers, each on its own machine."""
        return self._pool.pids

    def running(self) -> list[int]:
        """Return the workers that have found room."""
        return self._pool.running()

    def make_buffers(self, plan: BufferPlan) -> Buffers:
        """Make the caller's buffers; every worker has its own."""
        self._buffers = Buffers(plan)
        return self._buffers

    def send(self, worker: int, opcode: bytes, payload: bytes = b"") -> None:
        """Call one worker: a step of the environments in `payload`, or a pickled command."""
        self.traffic.calls += 1
        self.traffic.sent += len(payload)
        if opcode == messages.SOME:
            numbers = np.frombuffer(payload, np.int32) + self._groups[worker].start
            actions = rows.part_of(self._buffers.actions, numbers)
            self.traffic.sent += byte_count(actions)
            self._pool.call(worker, "step", payload, actions)
        else:
            self._pool.call(worker, "command", payload)

    def poll(self, timeout: float | None) -> Iterator[Message]:
        """Wait until any worker answers or is lost, at most `timeout` seconds, and yield everything there is."""
        return map(self._opened, self._pool.poll(timeout))

    def poll_one(self, worker: int, timeout: float | None) -> Message | None:
        """Wait for an answer of one worker, or its loss, leaving those of others for later."""
        message = self._pool.poll_one(worker, timeout)
        return None if message is None else self._opened(message)

    def position(self, worker: int) -> int:
        """Ask where a silent worker is; one that cannot even tell that stays where it was."""
        assert self.watchdog.timeout is not None
        if self.watchdog.silence(worker) >= self.watchdog.timeout / 4:
            with suppress(TimeoutError, *self._pool.loss_errors):
                self._positions[worker] = self._pool.ask(worker, "position", POSITION_SECONDS)
        return self._positions[worker]

    def place(self, worker: int) -> str:
        """Return where a worker runs."""
        return "a Ray actor"

    def exit_reason(self, worker: int) -> str:
        """Return how a worker ended."""
        return "was lost"

    def startup_stderr(self, worker: int) -> str:
        """Return nothing: Ray prints what its actors write."""
        return ""

    def why_not_started(self) -> str:
        """Return how full the cluster is."""
        total, free = self._pool.session.cpus()
        return f"the cluster has {total:g} CPUs, {free:g} of them free, and every worker takes one"

    def restart(self, worker: int, grace: float = 0.0) -> None:
        """Start another actor in the place of one."""
        self._pool.restart(worker, grace)

    def close(self, grace: float = GRACE_SECONDS) -> None:
        """End every actor. Safe to call twice, and after Ray has gone."""
        self._pool.close(grace)

    def _opened(self, message: Message) -> Message:
        """Copy the rows in a reply into the buffers, and return the rest of it."""
        worker, opcode, reply = message
        if opcode in (channel.DIED, channel.FAILED):
            return message
        payload, arrays = reply
        self.traffic.received += len(payload)
        if arrays is not None:
            self.traffic.received += byte_count(arrays)
            self._store(worker, opcode, payload, arrays)
        return Message(worker, opcode, payload)

    def _store(self, worker: int, opcode: bytes, payload: bytes, arrays: Rows) -> None:
        r = self._groups[worker]
        if opcode in (messages.READY, messages.READY_WITH):
            numbers = pickle.loads(payload)[0] if opcode == messages.READY_WITH else payload
            chosen = np.frombuffer(numbers, np.int32).astype(np.intp) + r.start
        else:
            chosen = np.arange(r.start, r.stop, dtype=np.intp)
        consecutive = int(chosen[-1]) - int(chosen[0]) == len(chosen) - 1 and bool((np.diff(chosen) == 1).all())
        where = slice(int(chosen[0]), int(chosen[-1]) + 1) if consecutive else chosen
        observations, rewards, terminations, truncations, extras = arrays
        buffers = self._buffers
        rows.assign(buffers.observations, where, observations, "observations")
        buffers.rewards[where] = rewards
        buffers.terminations[where] = terminations
        buffers.truncations[where] = truncations
        for name, values in extras.items():
            buffers.extras[name][where] = values


def byte_count(arrays: Any) -> int:
    """Return the bytes of all arrays in a batch."""
    if isinstance(arrays, dict):
        return sum(map(byte_count, arrays.values()))
    if isinstance(arrays, tuple):
        return sum(map(byte_count, arrays))
    return int(arrays.nbytes)
