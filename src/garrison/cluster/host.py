"""What lives in a Ray actor of the vector backend: a worker's environments, and the commands that reach them."""

import os
import pickle
import sys
from typing import Any

import numpy as np

from garrison.vector import rows
from garrison.vector.base import Card
from garrison.vector.buffers import Block, Plan
from garrison.vector.group import Section
from garrison.vector.worker import Task, Worker, pickled
from garrison.workers import channel, pin
from garrison.workers.faults import Failure

Rows = tuple[Any, Any, Any, Any, dict[str, Any]]
"""Observations, rewards, terminations, truncations and extras of some environments."""
Reply = tuple[bytes, bytes, Rows | None]
"""An opcode and payload as on the pipes of other backends, and the rows that go with it."""


class Host(Worker):
    """A worker whose block is its own: what it writes travels in the reply."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._make(task)

    def attach(self, plan: Plan, private: bool) -> None:
        """Build the section over arrays of its own."""
        count = len(self._envs)
        self._block = Block(Plan(count, plan.observation_space, plan.action_space, plan.extras))
        self._section = Section(self._envs, self._task.first, self._block, self._task.mode, self._task.extras)
        self._busy = self._block.busy.data

    @property
    def card(self) -> Card:
        """What the environments say about themselves."""
        return self._card

    @property
    def position(self) -> int:
        """Which environment is at work, in the low bits, and a count of commands above them."""
        return int(self._block.positions[0]) if hasattr(self, "_block") else 0

    def step_some(self, numbers: bytes, actions: Any) -> Reply:
        """Step the environments in `numbers`; their rows come with the reply."""
        chosen = np.frombuffer(numbers, np.int32).tolist()
        first, after = chosen[0], chosen[0] + len(chosen)
        where: rows.Where = slice(first, after) if chosen == list(range(first, after)) else chosen
        rows.assign(self._block.actions, where if isinstance(where, slice) else np.array(where), actions)
        entries = self._timed(self._section.step_some, chosen)
        if entries:
            return channel.READY_WITH, pickled((numbers, entries)), self.rows(where)
        return channel.READY, numbers, self.rows(where)

    def rows(self, where: rows.Where) -> Rows:
        """Return what the block holds for some environments."""
        block = self._block
        extras = {name: array[where] for name, array in block.extras.items()}
        arrays = (block.rewards[where], block.terminations[where], block.truncations[where])
        return rows.part_of(block.observations, where), *arrays, extras


class Actor:
    """The class of the Ray actor: every method answers, whatever goes wrong inside."""

    _host: Host

    def __init__(self, task: Task, paths: list[str]) -> None:
        self._task = task
        self._paths = paths

    def open(self) -> Reply:
        """Make the environments; the reply tells about them."""
        follow(self._paths)
        pin.this_process()
        try:
            self._host = Host(self._task)
            return channel.RESULT, pickled(self._host.card), None
        except Exception as error:
            return _failed(error)

    def pid(self) -> int:
        """Return the process id, on whatever machine this is."""
        return os.getpid()

    def step(self, numbers: bytes, actions: Any) -> Reply:
        """Step some environments."""
        try:
            return self._host.step_some(numbers, actions)
        except Exception as error:
            return _failed(error)

    def obey(self, message: bytes) -> Reply:
        """Carry out any other command of a worker."""
        try:
            name, arguments = pickle.loads(message)
            result = getattr(self._host, name)(*arguments)
            arrays = self._host.rows(slice(None)) if name in ("reset", "revive") else None
            if result is None:
                return channel.DONE, b"", arrays
            return channel.RESULT, pickled(result), arrays
        except Exception as error:
            return _failed(error)

    def where(self) -> int:
        """Return the position, while another method is at work."""
        return self._host.position


def follow(paths: list[str]) -> None:
    """Import from where the caller does, as far as those folders exist on this machine."""
    sys.path.extend(path for path in paths if path not in sys.path and os.path.isdir(path))


def _failed(error: Exception) -> Reply:
    return channel.FAILED, pickle.dumps(Failure.of(error)), None
