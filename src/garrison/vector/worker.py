"""What a worker of a vector backend does: make its environments, then carry out messages until told to exit."""

import pickle
import select
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gymnasium.vector import AutoresetMode

from garrison.errors import UserError
from garrison.vector import messages, rows
from garrison.vector.base import EnvInfo, EnvMaker, Setup, check_distinct
from garrison.vector.buffers import BufferPlan, Buffers, size
from garrison.vector.extras import Cadences
from garrison.vector.group import Callee, Entries, EnvGroup, Options, Seeds, env_failed
from garrison.vector.rows import Arrays, assign
from garrison.vector.timing.timed_group import group_class
from garrison.workers import channel
from garrison.workers.faults import Failure
from garrison.workers.launch import WorkerPipes, has_input, look_for_input
from garrison.workers.pickling import encode, pack

REPORT_SECONDS = 1e-3
"""`async` workers report cheap environments in batches worth about this time, expensive ones in smaller ones."""


@dataclass(frozen=True)
class WorkerTask:
    """What a worker is started with."""

    number: int
    makers: "tuple[EnvMaker, ...] | bytes"
    """The environments' makers; pickled, except under fork."""
    first: int
    mode: AutoresetMode
    extras: Cadences
    share: int
    """How many of the environments that `recv` returns are this worker's, if all are equally fast."""
    awake: float = 0.0
    """How many seconds it looks for a message before it sleeps until there is one."""

    @classmethod
    def of(cls, setup: Setup, number: int, is_packed: bool, awake: float = 0.0) -> "WorkerTask":
        """Return the task of worker `number`."""
        r = setup.groups()[number]
        makers = setup.makers[r.start : r.stop]
        packed = pack_makers(makers, r) if is_packed else makers
        share = setup.batch_size // setup.workers
        return cls(number, packed, r.start, setup.autoreset_mode, setup.extras, share, awake)


class EnvHost:
    """The environments of one worker and the commands that reach them, in whatever kind of process they live."""

    _buffers: Buffers
    _group: EnvGroup

    def __init__(self, task: WorkerTask) -> None:
        self._task = task
        makers = pickle.loads(task.makers) if isinstance(task.makers, bytes) else task.makers
        self._envs = []
        for i, maker in enumerate(makers, start=task.first):
            try:
                self._envs.append(maker())
            except UserError:
                raise
            except Exception as error:
                raise env_failed(i, "its making", error) from error
        check_distinct(self._envs, task.first)
        infos = [EnvInfo.of(env, list(task.extras)) for env in self._envs]
        self.info = infos[0]
        """What the environments say about themselves."""
        for i, info in enumerate(infos[1:], start=task.first + 1):
            self.info.check(info, i)

    def use(self, buffers: Buffers, timing: bool = False) -> None:
        """Step the environments over these buffers from now on."""
        self._buffers = buffers
        self._group = group_class(timing)(self._envs, self._task.first, buffers, self._task.mode, self._task.extras)

    def private_buffers(self) -> Buffers:
        """Return buffers for this worker's environments that nobody shares."""
        info = self.info
        return Buffers(BufferPlan(len(self._envs), info.observation_space, info.action_space, info.extras))

    def reset(self, chosen: list[int], seeds: Seeds, options: Options) -> Entries | None:
        """Reset the chosen environments of the group."""
        return self._group.reset(chosen, seeds, options) or None

    def revive(self, seeds: Seeds) -> Entries | None:
        """Start again in the place of a worker that died: fresh episodes, reported as truncated."""
        entries = self._group.reset(range(len(self._envs)), seeds, [None] * len(seeds))
        self._group.truncate()
        return entries or None

    def call(self, chosen: list[int], what: Callee, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Call a method of the chosen environments, or a function with each."""
        return self._group.call(chosen, what, args, kwargs)

    def assign(self, chosen: list[int], name: str, values: list[Any]) -> None:
        """Set an attribute of the chosen environments."""
        self._group.assign(chosen, name, values)

    def sync(self, token: int) -> int:
        """Return the token, so that the caller knows that all earlier messages are dealt with."""
        return token

    def close(self) -> None:
        """Close the environments."""
        for env in self._envs:
            env.close()


class Worker(EnvHost):
    """The environments of a worker process, commanded over its pipes."""

    def __init__(self, task: WorkerTask, pipes: WorkerPipes) -> None:
        super().__init__(task)
        self._pipes = pipes
        self._deferred: list[tuple[bytes, bytes]] = []  # a message that came while environments were in flight
        self._report_size = 1  # how many environments are reported together
        self._sends_objects = False
        self._incoming = select.poll()
        self._incoming.register(pipes.commands.fileno(), select.POLLIN)
        self._answer(self.info)

    def attach(self, plan: BufferPlan, private: bool) -> None:
        """Map the buffers and build the group; with `private` (for pipes) only the worker's own cells are shared."""
        everyone = Buffers(plan, self._pipes.memory.map(size(plan)))
        number, count = self._task.number, len(self._envs)
        mine = everyone.part(0 if private else self._task.first, 0 if private else count, number)
        if private:
            cells, mine = mine, self.private_buffers()
            mine.positions, mine.times, mine.counts = cells.positions, cells.times, cells.counts
        self.use(mine, plan.timing)
        self._report_size = 1
        self._sends_objects = not private and bool(rows.object_spaces(plan.observation_space))

    def serve(self) -> None:
        """Carry out messages until EXIT; raises EOFError or BrokenPipeError when the caller is gone."""
        while True:
            opcode, payload = self._deferred.pop() if self._deferred else self._next_message()
            if opcode == channel.EXIT:
                return
            try:
                if opcode == messages.STEP:
                    entries = self._group.step()
                    self._send_objects(range(len(self._envs)))
                    self._answer(entries or None)
                elif opcode == messages.SOME:
                    self._step_some(payload)
                elif opcode == messages.OBJECTS:
                    put_objects(self._buffers.actions, payload)
                else:
                    name, arguments = pickle.loads(payload)
                    result = getattr(self, name)(*arguments)
                    if name in ("reset", "revive"):
                        self._send_objects(range(len(self._envs)))
                    self._answer(result)
            except (EOFError, BrokenPipeError):
                raise
            except Exception as error:
                channel.send(self._pipes.replies, channel.FAILED, pickle.dumps(Failure.of(error)))

    def _next_message(self) -> tuple[bytes, bytes]:
        if self._task.awake:
            look_for_input(self._incoming, self._task.awake)
        return channel.receive(self._pipes.commands)

    def ship(self, name: str, arguments: tuple[Any, ...], actions: Any) -> tuple[Any, ...]:
        """Do what `name` says and send every array along: the step of `pipes`."""
        buffers = self._buffers
        entries: Entries = []
        if name == "step":
            assign(buffers.actions, slice(0, len(self._envs)), actions)
            entries = self._group.step()
        elif name == "reset":
            entries = self.reset(*arguments) or []
        return entries, buffers.observations, buffers.rewards, buffers.terminations, buffers.truncations, buffers.extras

    def _answer(self, result: Any) -> None:
        if result is None:
            channel.send(self._pipes.replies, channel.DONE)
        else:
            channel.send(self._pipes.replies, channel.RESULT, encode_result(result))

    def _step_some(self, payload: bytes) -> None:
        """Step environments in the order they were sent for, reporting them as they get ready."""
        commands = self._pipes.commands.fileno()
        queue = _numbers(payload)
        while queue:
            # What is ready can only go on when this worker is free, so there is no hurry to report it, and each report
            # wakes the caller, who takes this worker's core. But of less than the caller waits for, it needs some
            # early, so that the next ones are here before the worker runs out.
            share = self._task.share
            size = max(self._report_size, share if len(queue) >= share else (len(queue) + 1) // 2)
            chunk, queue = queue[:size], queue[size:]
            begun = time.perf_counter()
            entries = self._group.step_some(chunk)
            seconds = time.perf_counter() - begun
            self._report_size = max(1, min(2 * self._report_size, int(REPORT_SECONDS * len(chunk) / seconds)))
            self._report(chunk, entries)
            # More may have been asked for meanwhile; anything but more steps has to wait for these.
            while queue and not self._deferred and has_input(commands):
                opcode, payload = channel.receive(self._pipes.commands)
                if opcode == channel.EXIT:
                    raise EOFError
                if opcode == messages.OBJECTS:  # of environments that are not in the queue
                    put_objects(self._buffers.actions, payload)
                elif opcode == messages.SOME:
                    queue += _numbers(payload)
                else:
                    self._deferred.append((opcode, payload))

    def _send_objects(self, numbers: Sequence[int]) -> None:
        """Send the parts of observations that cannot lie in shared memory, ahead of the message that tells of them."""
        if self._sends_objects:
            channel.send(self._pipes.replies, messages.OBJECTS, pack_objects(self._buffers.observations, numbers))

    def _report(self, chunk: list[int], entries: Entries) -> None:
        numbers = array("i", chunk).tobytes()
        self._send_objects(chunk)
        if entries:
            channel.send(self._pipes.replies, messages.READY_WITH, encode_result((numbers, entries)))
        else:
            channel.send(self._pipes.replies, messages.READY, numbers)


def work(task: WorkerTask, pipes: WorkerPipes) -> None:
    """Serve one worker's environments; the target of a worker process."""
    worker = Worker(task, pipes)
    try:
        worker.serve()
    finally:
        worker.close()


def _numbers(payload: bytes) -> list[int]:
    """Return the int32 numbers in a message; a third of what NumPy takes for so few."""
    return memoryview(payload).cast("i").tolist()


def encode_result(result: Any) -> bytes:
    """Pickle what a worker answers."""
    what = f"a result of type {type(result).__name__} cannot be sent from a worker process"
    return encode(result, what, "Ask for plain values, or use the serial backend.")


def pack_objects(batch: Arrays, numbers: Sequence[int], first: int = 0) -> bytes:
    """Pickle the objects of some environments of a group, whose rows in `batch` begin at `first`."""
    where = [first + k for k in numbers]
    return encode_result((list(numbers), [list(column[where]) for column in rows.object_arrays(batch)]))


def put_objects(batch: Arrays, packed: bytes, first: int = 0) -> None:
    """Write what `pack_objects` has pickled into the rows from `first` on."""
    numbers, columns = pickle.loads(packed)
    for column, values in zip(rows.object_arrays(batch), columns, strict=True):
        rows.put(column, [first + k for k in numbers], values)


def pack_makers(makers: tuple[EnvMaker, ...], numbers: range) -> bytes:
    """Pickle the environments' callables for their worker, or name the one that cannot be sent."""
    where = "a worker process"
    hint = "Build what it needs inside the callable, or use start_method='fork' or backend='serial'."
    try:
        return pack(makers, "the environments' callables", where, hint)
    except UserError:
        for i, maker in zip(numbers, makers, strict=True):
            pack(maker, f"the callable of environment {i}, {maker!r},", where, hint)
        raise
