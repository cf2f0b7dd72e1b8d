"""The life of a worker process: make the environments, then obey one message after the other until told to go.

A worker never outlives its caller. While idle it sees its command pipe close; inside an environment, even a stuck one,
the kernel's signal for the closed *lifeline* ends it: a pipe whose other end only the caller holds.
"""

import fcntl
import os
import pickle
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import cloudpickle
import numpy as np
from gymnasium.vector import AutoresetMode

from garrison.errors import UserError
from garrison.vector.base import Card, EnvMaker
from garrison.vector.buffers import Block, Memory, Plan, size
from garrison.vector.extras import Cadences
from garrison.vector.group import Entries, Section
from garrison.vector.rows import assign
from garrison.vector.timing.group import section_kind
from garrison.workers import channel, pin
from garrison.workers.faults import EnvFailed, Failure, env_failed

REPORT_SECONDS = 200e-6
"""`async` workers report cheap environments in groups worth about this time, expensive ones one by one."""


@dataclass(frozen=True)
class Task:
    """What a worker is started with."""

    number: int
    makers: "tuple[EnvMaker, ...] | bytes"
    """The environments' makers; pickled, except under fork."""
    first: int
    mode: AutoresetMode
    extras: Cadences


@dataclass(frozen=True)
class Lines:
    """A worker's connections to its caller."""

    commands: Connection
    replies: Connection
    lifeline: Connection
    memory: Memory
    strangers: tuple[Connection, ...] = ()
    """Under fork: the caller's own ends, inherited by accident."""


def work(task: Task, lines: Lines) -> None:
    """Be a worker; the target of the process."""
    settle_in(lines)
    try:
        worker = Worker(task, lines)
    except Exception as error:
        channel.send(lines.replies, channel.FAILED, pickle.dumps(Failure.of(error)))
        return
    try:
        worker.obey()
    except (EOFError, BrokenPipeError):
        pass  # the caller is gone
    finally:
        worker.close()


def settle_in(lines: Lines) -> None:
    """Tie this process to its caller: it ends with it, leaves Ctrl-C to it, and computes with one thread."""
    for line in lines.strangers:
        line.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the caller, who then ends the workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # macOS ignores SIGIO by default; Linux ends the process, whatever it is doing, without help of the interpreter.
    signal.signal(signal.SIGIO, signal.SIG_DFL if sys.platform == "linux" else lambda *_: os._exit(1))
    lifeline = lines.lifeline.fileno()
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:  # it closed before the signal was set
        os._exit(1)
    pin.this_process()


class Worker:
    """The environments of one section and the commands that reach them."""

    _block: Block
    _section: Section
    _busy: Any
    _group: int
    """How many environments are reported together."""

    def __init__(self, task: Task, lines: Lines) -> None:
        self._task = task
        self._lines = lines
        self._held: list[tuple[bytes, bytes]] = []  # a message that came while environments were in flight
        self._make(task)
        self._answer(self._card)

    def _make(self, task: Task) -> None:
        """Make the environments and see that they are alike."""
        makers = pickle.loads(task.makers) if isinstance(task.makers, bytes) else task.makers
        self._envs = []
        for i, maker in enumerate(makers, start=task.first):
            try:
                self._envs.append(maker())
            except UserError:
                raise
            except Exception as error:
                raise env_failed(i, "its making", error) from error
        cards = [Card.of(env, list(task.extras)) for env in self._envs]
        self._card = cards[0]
        for i, card in enumerate(cards[1:], start=task.first + 1):
            self._card.check(card, i)

    def attach(self, plan: Plan, private: bool) -> None:
        """Map the block and build the section; a `private` block (for pipes) shares only the worker's own cells."""
        block = Block(plan, self._lines.memory.map(size(plan)))
        number, count = self._task.number, len(self._envs)
        part = block.part(0 if private else self._task.first, 0 if private else count, number)
        if private:
            card = self._card
            self._block = Block(Plan(count, card.observation_space, card.action_space, card.extras))
            self._block.positions, self._block.busy = part.positions, part.busy
            self._block.times, self._block.counts = part.times, part.counts
        else:
            self._block = part
        kind = section_kind(plan.timing)
        self._section = kind(self._envs, self._task.first, self._block, self._task.mode, self._task.extras)
        self._busy = self._block.busy.data
        self._group = 1

    def obey(self) -> None:
        """Carry out messages until EXIT; raises EOFError or BrokenPipeError when the caller is gone."""
        while True:
            opcode, payload = self._held.pop() if self._held else channel.receive(self._lines.commands)
            if opcode == channel.EXIT:
                return
            try:
                if opcode == channel.STEP:
                    self._answer(self._timed(self._section.step) or None)
                elif opcode == channel.SOME:
                    self._step_some(payload)
                else:
                    name, arguments = pickle.loads(payload)
                    self._answer(getattr(self, name)(*arguments))
            except (EOFError, BrokenPipeError):
                raise
            except Exception as error:
                channel.send(self._lines.replies, channel.FAILED, pickle.dumps(Failure.of(error)))

    def _answer(self, result: Any) -> None:
        if result is None:
            channel.send(self._lines.replies, channel.DONE)
        else:
            channel.send(self._lines.replies, channel.RESULT, pickled(result))

    def _timed(self, act: Callable[..., Entries], *arguments: Any) -> Entries:
        begun = time.perf_counter()
        try:
            return act(*arguments)
        finally:
            self._busy[0] += time.perf_counter() - begun

    def _step_some(self, payload: bytes) -> None:
        """Step environments in the order they were sent for, reporting them as they get ready."""
        commands = self._lines.commands.fileno()
        queue = np.frombuffer(payload, np.int32).tolist()
        while queue:
            chunk, queue = queue[: self._group], queue[self._group :]
            begun = time.perf_counter()
            entries = self._section.step_some(chunk)
            seconds = time.perf_counter() - begun
            self._busy[0] += seconds
            self._group = max(1, min(2 * self._group, int(REPORT_SECONDS * len(chunk) / seconds)))
            self._report(chunk, entries)
            # More may have been asked for meanwhile; anything but more steps has to wait for these.
            while queue and not self._held and select.select([commands], [], [], 0)[0]:
                opcode, payload = channel.receive(self._lines.commands)
                if opcode == channel.EXIT:
                    raise EOFError
                if opcode == channel.SOME:
                    queue += np.frombuffer(payload, np.int32).tolist()
                else:
                    self._held.append((opcode, payload))

    def _report(self, chunk: list[int], entries: Entries) -> None:
        numbers = np.array(chunk, np.int32).tobytes()
        if entries:
            channel.send(self._lines.replies, channel.READY_WITH, pickled((numbers, entries)))
        else:
            channel.send(self._lines.replies, channel.READY, numbers)

    def reset(self, chosen: list[int], seeds: list[int | None], options: dict[str, Any] | None) -> Entries | None:
        """Reset the chosen environments of the section."""
        return self._timed(self._section.reset, chosen, seeds, options) or None

    def revive(self, seeds: list[int | None]) -> None:
        """Start again in the place of a worker that died: fresh episodes, reported as truncated."""
        self._section.reset(range(len(self._envs)), seeds, None)
        self._section.truncate()

    def ship(self, name: str, arguments: tuple[Any, ...], actions: Any) -> tuple[Any, ...]:
        """Do what `name` says and send every array along: the step of `pipes`."""
        block = self._block
        if name == "step":
            assign(block.actions, slice(0, len(self._envs)), actions)
            entries = self._timed(self._section.step)
        elif name == "reset":
            entries = self.reset(*arguments) or []
        else:  # a look at the arrays
            entries = []
        return entries, block.observations, block.rewards, block.terminations, block.truncations, block.extras

    def call(self, chosen: list[int], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Call a method of the chosen environments."""
        return self._section.call(chosen, name, args, kwargs)

    def assign(self, chosen: list[int], name: str, values: list[Any]) -> None:
        """Set an attribute of the chosen environments."""
        self._section.assign(chosen, name, values)

    def nothing(self) -> None:
        """Answer, so that the caller knows that all earlier messages are dealt with."""

    def close(self) -> None:
        """Close the environments."""
        for env in self._envs:
            env.close()


def pickled(result: Any) -> bytes:
    """Pickle what a worker answers."""
    try:
        return pickle.dumps(result, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception:
        pass
    try:
        dumped: bytes = cloudpickle.dumps(result)  # functions and classes of a script
        return dumped
    except Exception as error:
        what = f"a result of type {type(result).__name__} cannot be sent from a worker process: {error}"
        raise EnvFailed(None, f"{what}. Ask for plain values, or use the serial backend.") from error
