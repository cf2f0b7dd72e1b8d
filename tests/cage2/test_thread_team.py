"""Threads beside the caller's: every chunk once, exceptions handed over, nothing left behind, asleep when idle."""

import gc
import os
import signal
import threading
import time
import weakref
from typing import Any

import numpy as np
import pytest

from garrison.cage2.job_board import finish, first_job, is_asleep, next_job, take
from garrison.cage2.thread_team import SharedWork, ThreadTeam
from garrison.jit import COMPILED, kernel

needs_threads = pytest.mark.skipif(not COMPILED, reason="plain Python has no threads beside the caller's")


@kernel
def count(counts: Any, by: Any, items: int, chunk: int, board: Any, member: int, call: int) -> None:
    job = first_job(board, call)
    while job >= 0:
        k = take(board, job, member, items, chunk)
        while k >= 0:
            for i in range(k * chunk, min(items, (k + 1) * chunk)):
                counts[i] += 1
                by[i] = member
            finish(board, k)
            k = take(board, job, member, items, chunk)
        job = next_job(board, job, member, items, chunk, call)


def python_kernel(do: Any) -> Any:
    """Return a kernel in Python that calls `do(member, chunk)`."""

    def run(items: int, chunk: int, board: Any, member: int, call: int) -> None:
        job = first_job(board, call)
        while job >= 0:
            while (k := take(board, job, member, items, chunk)) >= 0:
                do(member, k)
                finish(board, 1)
            job = next_job(board, job, member, items, chunk, call)

    return run


def own_threads(before: set[threading.Thread]) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread not in before]


@pytest.mark.parametrize("others", [0, 1, 2, 5])
@pytest.mark.parametrize(("items", "chunk"), [(1, 1), (3, 1), (50, 7), (1000, 1)])
def test_every_chunk_is_done_once(others: int, items: int, chunk: int) -> None:
    team = ThreadTeam(others)
    counts, by = np.zeros(items, np.int64), np.zeros(items, np.int64)
    work = SharedWork(count, (counts, by), items, chunk)
    chunks = -(-items // chunk)
    for times in range(1, 301):
        assert team.run(work) == chunks * (chunks - 1) // 2
        assert (counts == times).all()
    team.close()
    team.close()


@needs_threads
def test_a_job_that_follows_on_other_work_is_done_by_that_jobs_kernel() -> None:
    team = ThreadTeam(2)
    counts = [np.zeros(300, np.int64) for _ in range(3)]
    works = [
        SharedWork(count, (c, np.zeros(300, np.int64)), 300, size) for c, size in zip(counts, (1, 3, 100), strict=True)
    ]
    order = np.random.default_rng(0).integers(3, size=2000)
    for k in order:
        team.run(works[k])
        if k == 2:
            team.forget()
    assert [set(c.tolist()) for c in counts] == [{int((order == k).sum())} for k in range(3)]
    team.close()


@needs_threads
def test_every_thread_begins_with_its_own_share() -> None:
    team = ThreadTeam(1)
    everybody = threading.Barrier(2)
    first: dict[int, int] = {}

    def note(member: int, chunk: int) -> None:
        if member not in first:
            first[member] = chunk
            everybody.wait(10)  # so that nobody is through before the other has begun

    team.run(SharedWork(python_kernel(note), (), 10, 1))
    assert first == {0: 0, 1: 5}
    team.close()


@needs_threads
def test_who_is_through_helps_the_one_that_is_not() -> None:
    team = ThreadTeam(1)
    other_began, rest_is_done = threading.Event(), threading.Event()
    done: list[int] = []

    def do(member: int, chunk: int) -> None:
        if member == 1:
            other_began.set()
            assert rest_is_done.wait(10)
        else:
            assert other_began.wait(10)
        done.append(chunk)
        if len(done) == 9:
            rest_is_done.set()

    assert team.run(SharedWork(python_kernel(do), (), 10, 1)) == 10
    assert done == [0, 1, 2, 3, 4, 6, 7, 8, 9, 5]  # the other thread has done one chunk, the first of its share
    team.close()


@pytest.mark.parametrize("who", [0, 1])
def test_an_exception_reaches_the_caller_and_leaves_no_thread(who: int) -> None:
    if who == 1 and not COMPILED:
        pytest.skip("plain Python has no threads beside the caller's")
    before = set(threading.enumerate())
    team = ThreadTeam(1)
    other_failed = threading.Event()

    def fail(member: int, chunk: int) -> None:
        if member == who:
            other_failed.set()
            raise ZeroDivisionError
        other_failed.wait(10)

    with pytest.raises(ZeroDivisionError):
        team.run(SharedWork(python_kernel(fail), (), 40, 1))
    assert own_threads(before) == []
    assert team.run(SharedWork(python_kernel(lambda member, chunk: None), (), 40, 1)) == 40
    team.close()


@needs_threads
def test_ctrl_c_ends_the_work_and_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    team = ThreadTeam(1)
    entered = threading.Event()

    def do(member: int, chunk: int) -> None:
        if member == 1:
            entered.set()
            time.sleep(0.05)
        elif entered.wait(10):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(10)

    with pytest.raises(KeyboardInterrupt):
        team.run(SharedWork(python_kernel(do), (), 2, 1))
    assert own_threads(before) == []
    assert team.run(SharedWork(python_kernel(lambda member, chunk: None), (), 4, 1)) == 4
    team.close()


@needs_threads
def test_the_threads_of_a_forgotten_team_end() -> None:
    before = set(threading.enumerate())
    team = ThreadTeam(3)
    team.run(SharedWork(python_kernel(lambda member, chunk: None), (), 4, 1))
    threads = own_threads(before)
    assert len(threads) == 3
    del team
    gc.collect()
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()


@needs_threads
def test_forgotten_work_is_let_go_of() -> None:
    class Held:
        def __call__(self, member: int, chunk: int) -> None:
            pass

    team, held = ThreadTeam(2), Held()
    gone = weakref.ref(held)
    work = SharedWork(python_kernel(held), (), 8, 1)
    for _ in range(3):
        team.run(work)
    del held, work
    team.forget()
    team.run(SharedWork(count, (np.zeros(9, np.int64), np.zeros(9, np.int64)), 9, 1))
    deadline = time.monotonic() + 10
    while gone() is not None and time.monotonic() < deadline:
        time.sleep(0.01)
        gc.collect()
    assert gone() is None
    team.close()


@needs_threads
def test_a_team_without_work_goes_to_sleep_and_is_woken() -> None:
    team = ThreadTeam(2)
    work = SharedWork(count, (np.zeros(64, np.int64), np.zeros(64, np.int64)), 64, 1)
    for _ in range(20):
        assert team.run(work) == 64 * 63 // 2
        deadline = time.monotonic() + 10
        while not all(is_asleep(team._board, member) for member in (1, 2)):
            assert time.monotonic() < deadline, "a thread waits without sleeping"
            time.sleep(0.001)
    team.close()
