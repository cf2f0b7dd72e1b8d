"""What lives in a Ray actor of the vector backend: a worker's environments, and the commands that reach them."""

import pickle
from typing import Any

import numpy as np

from garrison.cluster.ray_pool import Answer, RayWorker, answer, extend_path
from garrison.vector import messages, rows
from garrison.vector.buffers import BufferPlan
from garrison.vector.worker import EnvHost, WorkerTask, encode_result
from garrison.workers import channel, pin

Rows = tuple[Any, Any, Any, Any, dict[str, Any]]
"""Observations, rewards, terminations, truncations and extras of some environments."""
Reply = tuple[bytes, Rows | None]
"""A payload as on the pipes of other backends, and the rows that go with it."""


class RayEnvHost(EnvHost):
    """A worker's environments whose buffers are their own: what they write travels in the reply."""

    def attach(self, plan: BufferPlan, private: bool) -> None:
        """Build the group over buffers of its own."""
        self.use(self.private_buffers())

    @property
    def position(self) -> int:
        """Which environment is at work, in the low bits, and a count of commands above them."""
        return int(self._buffers.positions[0]) if hasattr(self, "_buffers") else 0

    def step_some(self, numbers: bytes, actions: Any) -> Answer:
        """Step the environments in `numbers`; their rows come with the reply."""
        chosen = np.frombuffer(numbers, np.int32).tolist()
        first, after = chosen[0], chosen[0] + len(chosen)
        where: rows.Where = slice(first, after) if chosen == list(range(first, after)) else chosen
        rows.assign(self._buffers.actions, where if isinstance(where, slice) else np.array(where), actions)
        entries = self._group.step_some(chosen)
        if entries:
            return messages.READY_WITH, (encode_result((numbers, entries)), self.rows(where))
        return messages.READY, (numbers, self.rows(where))

    def rows(self, where: rows.Where) -> Rows:
        """Return what the buffers hold for some environments."""
        buffers = self._buffers
        extras = {name: array[where] for name, array in buffers.extras.items()}
        arrays = (buffers.rewards[where], buffers.terminations[where], buffers.truncations[where])
        return rows.part_of(buffers.observations, where), *arrays, extras


class EnvActor(RayWorker):
    """The class of the Ray actor; payloads are of type `Reply`."""

    _host: RayEnvHost

    def open(self, task: WorkerTask, paths: list[str]) -> Answer:
        """Make the environments; the reply tells about them."""
        return answer(lambda: self._open(task, paths))

    def step(self, numbers: bytes, actions: Any) -> Answer:
        """Step some environments."""
        return answer(lambda: self._host.step_some(numbers, actions))

    def command(self, message: bytes) -> Answer:
        """Carry out any other command of a worker."""
        return answer(lambda: self._command(*pickle.loads(message)))

    def position(self) -> int:
        """Return where the worker is, while another method is at work."""
        return self._host.position

    def close(self) -> None:
        """Close the environments."""
        if hasattr(self, "_host"):
            self._host.close()

    def _open(self, task: WorkerTask, paths: list[str]) -> Answer:
        extend_path(paths)
        pin.this_process()
        self._host = RayEnvHost(task)
        return channel.RESULT, (encode_result(self._host.info), None)

    def _command(self, name: str, arguments: tuple[Any, ...]) -> Answer:
        result = getattr(self._host, name)(*arguments)
        arrays = self._host.rows(slice(None)) if name in ("reset", "revive") else None
        if result is None:
            return channel.DONE, (b"", arrays)
        return channel.RESULT, (encode_result(result), arrays)
