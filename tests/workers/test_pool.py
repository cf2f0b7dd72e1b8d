"""One pool of processes: what workers say, how they end, who takes their place, and that nothing stays behind."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from garrison.errors import UserError
from garrison.workers import channel
from garrison.workers.channel import Message
from garrison.workers.faults import EnvFailed
from garrison.workers.launch import Launch, WorkerPipes
from garrison.workers.memory import Allocator, SharedMemory
from garrison.workers.pool import WorkerPool
from garrison.workers.supervisor import Supervisor
from tests.helpers.processes import HANG, gone

HELLO = b"H"  # with the worker's number and how many were started before it

Open = Callable[..., WorkerPool]


def speak(task: tuple[int, int, str], pipes: WorkerPipes) -> None:
    """Say hello, then do what the task says."""
    number, start, deed = task
    channel.send(pipes.replies, HELLO, bytes((number, start)))
    if deed == "exit":
        channel.send(pipes.replies, HELLO, b"last words")
        os._exit(3)
    if deed == "raise":
        raise KeyError("no such thing")
    if deed == "input":
        raise UserError("there is no scenario 7.", hint="Use 2.")
    if deed == "memory":
        pipes.memory.map(64)[number] = 7
    while channel.receive(pipes.commands)[0] != channel.EXIT:
        if deed != "silent":
            channel.send(pipes.replies, channel.DONE)


@pytest.fixture
def open_pool() -> Iterator[Open]:
    pools: list[WorkerPool] = []

    def start(*deeds: str, method: str = "fork", timeout: float | None = None) -> WorkerPool:
        def task_of(number: int, start: int) -> tuple[int, int, str]:
            return number, start, deeds[number] if start < len(deeds) else ""

        pools.append(WorkerPool(len(deeds), Launch(speak, method), task_of, SharedMemory(), timeout))
        return pools[-1]

    yield start
    for pool in pools:
        pids = set(pool.pids)
        pool.close()
        pool.close()  # twice does no harm
        assert gone(pids)


def take(pool: WorkerPool, count: int) -> list[Message]:
    messages: list[Message] = []
    deadline = time.monotonic() + HANG
    while len(messages) < count and time.monotonic() < deadline:
        messages += pool.poll(1.0)
    return messages


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_speak_and_answer(open_pool: Open, method: str) -> None:
    pool = open_pool("", "", method=method)
    assert sorted(take(pool, 2)) == [Message(0, HELLO, bytes((0, 0))), Message(1, HELLO, bytes((1, 1)))]
    pool.send(1, channel.COMMAND, b"anything")
    assert pool.watchdog.busy == {0, 1}  # 0 has never finished anything
    assert take(pool, 1) == [Message(1, channel.DONE, b"")]
    assert pool.watchdog.busy == {0}


def test_the_last_words_come_before_the_death_and_the_death_comes_once(open_pool: Open) -> None:
    pool = open_pool("exit", "")
    seen = take(pool, 4)
    assert [m.opcode for m in seen if m.worker == 0] == [HELLO, HELLO, channel.DIED]
    assert pool.exit_reason(0) == "ended by itself with exit code 3"
    assert list(pool.poll(0.0)) == []


def test_a_restarted_worker_is_another_process_that_knows_how_many_came_before(open_pool: Open) -> None:
    pool = open_pool("silent", "")
    take(pool, 2)
    before = pool.pids
    pool.restart(0)
    assert take(pool, 1) == [Message(0, HELLO, bytes((0, 2)))]
    assert (pool.pids[0] != before[0], pool.pids[1]) == (True, before[1])
    assert gone({before[0]})


def test_one_worker_can_be_waited_for_alone(open_pool: Open) -> None:
    pool = open_pool("", "")
    assert pool.poll_one(1, 30.0) == Message(1, HELLO, bytes((1, 1)))
    assert pool.poll_one(1, 0.01) is None
    assert take(pool, 1) == [Message(0, HELLO, bytes((0, 0)))]


def test_memory_is_shared_and_has_no_name(open_pool: Open) -> None:
    names = set(os.listdir("/dev/shm"))
    pool = open_pool("memory", "memory")
    pool.send(0, channel.COMMAND, b"")
    pool.send(1, channel.COMMAND, b"")
    take(pool, 4)
    assert pool.memory.map(64)[:2] == bytes((7, 7))
    assert set(os.listdir("/dev/shm")) <= names


def test_what_cannot_be_sent_is_told(open_pool: Open) -> None:
    lock = threading.Lock()
    launch = Launch(speak, "spawn", contents="what makes the environments")
    with pytest.raises(UserError, match="what makes the environments cannot be sent to another process") as caught:
        WorkerPool(1, launch, lambda number, start: lock, SharedMemory(), None)
    assert caught.value.hint == "Build what it needs inside it."


def test_a_supervisor_replaces_what_fails_dies_or_is_stuck(open_pool: Open) -> None:
    pool = open_pool("raise", "exit", "silent", timeout=0.5)
    begun: list[int] = []
    supervisor = Supervisor(pool, "actor", begun.append)
    pids = pool.pids
    said: list[str] = []
    heard: list[Any] = []
    deadline = time.monotonic() + HANG
    while supervisor.replaced < 3 and time.monotonic() < deadline:
        if message := supervisor.receive(0.05):
            heard.append(message)
            if message.payload != bytes((2, 2)):
                pool.watchdog.finished(message.worker)  # the others owe nothing
        said += supervisor.check()
    assert sorted(begun) == [0, 1, 2]
    assert sorted(said) == [
        f"actor 0 (process {pids[0]}): raised KeyError: 'no such thing'; another one takes its place",
        f"actor 1 (process {pids[1]}): ended by itself with exit code 3; another one takes its place",
        f"actor 2 (process {pids[2]}): has not been heard of for 0.5 s; another one takes its place",
    ]


def test_a_supervisor_gives_up_when_replacing_does_not_help(open_pool: Open) -> None:
    pool = open_pool(*["raise"] * 5)
    supervisor = Supervisor(pool, "actor", lambda worker: None)
    with pytest.raises(EnvFailed, match="5 actors in 60 s failed for the same reason") as caught:
        [supervisor.receive(5.0) for _ in range(20)]
    assert "raised KeyError: 'no such thing'" in caught.value.summary
    assert "in speak" in caught.value.details


def test_bad_input_ends_it_at_once(open_pool: Open) -> None:
    supervisor = Supervisor(open_pool("input"), "actor", lambda worker: None)
    assert supervisor.receive(30.0) is not None  # its hello
    with pytest.raises(UserError, match=r"^there is no scenario 7\. Use 2\.$") as caught:
        supervisor.receive(30.0)
    assert (caught.value.summary, caught.value.hint) == ("there is no scenario 7.", "Use 2.")


def test_an_allocator_without_memory_counts() -> None:
    counter = Allocator(None)
    counter.take((3,), np.dtype(np.float64))
    counter.take((5, 2), np.dtype(np.uint8))
    arrays = Allocator(memoryview(bytearray(counter.offset)))
    first, second = arrays.take((3,), np.dtype(np.float64)), arrays.take((5, 2), np.dtype(np.uint8))
    first[:], second[:] = 1.0, 2
    assert (first.shape, second.shape, arrays.offset, counter.offset) == ((3,), (5, 2), 128, 128)
    assert first.tolist() == [1.0] * 3
