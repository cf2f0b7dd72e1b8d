"""Threads that share the work of kernels.

While jobs follow each other closely the threads stay inside the kernel and look at a `job_board`: a job reaches them
without the system and without the GIL. After `SPIN_SECONDS` without a job they go to sleep, so a batch that nobody
steps uses no core. Waking a thread that sleeps takes the system tens of microseconds; until then the others do its
part.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from threading import Lock, Thread
from time import perf_counter, sleep
from typing import Any, NamedTuple
from weakref import finalize

from garrison.cage2.job_board import (
    NO_CALL,
    TOTAL,
    finish,
    first_job,
    has_gone_to_sleep,
    is_done,
    make_board,
    next_job,
    post,
    rouse,
    take,
    wait_a_while,
)
from garrison.jit import COMPILED, kernel
from garrison.jit.atomics import Words

SPIN_SECONDS = 100e-6
_NAP_SECONDS = 20e-6  # between looks at a thread that has lost its core in the middle of a chunk


class SharedWork(NamedTuple):
    """What the members do together."""

    kernel: Callable[..., Any]
    """As `job_board` describes it"""
    arguments: tuple[Any, ...]
    """All but the last five"""
    items: int
    """Rows of the batch"""
    chunk: int
    """Rows that a member takes at a time: few, so that nobody waits long for the last one"""


Asked = tuple[int, SharedWork] | None


class ThreadTeam:
    """`count` threads beside the caller's.

    They start with the first work, also in a forked child, where threads do not survive. They end with `close`, or when
    the team is garbage. Plain Python runs one thread at a time, so there the caller does all of the work.
    """

    def __init__(self, count: int) -> None:
        self._count = count if COMPILED else 0
        self._process = 0  # the one that the threads run in
        self._number = 0
        self._asked: list[Asked] = [None]  # the one thing that threads and team share beside the board

    def run(self, work: SharedWork) -> int:
        """Do the work; return the sum of what its chunks gave.

        The same object again is the quickest: the other members are then still in its kernel.
        """
        if self._process != os.getpid():
            self._start()
        board, items, chunk = self._board, work.items, work.chunk
        asked = self._asked[0]
        if asked is None or asked[1] is not work:
            self._number += 1
            self._asked[0] = self._number, work
        try:
            if post(board, items, chunk, self._number):
                _wake(board, self._locks)
            work.kernel(*work.arguments, items, chunk, board, 0, self._number)
            while not is_done(board, items, chunk):
                if self._failures:
                    raise self._failures[0]
                sleep(_NAP_SECONDS)
        except BaseException:
            self._disband()  # nobody must work on after the caller has been told
            raise
        return int(board[TOTAL])

    def forget(self) -> None:
        """Keep nothing of the last work, such as its arrays."""
        if self._asked[0] is not None:
            self._asked[0] = self._number, SharedWork(_rest, (), 0, 1)

    def close(self) -> None:
        """Let the threads end."""
        if self._process == os.getpid():
            self._end()
        self._process = 0

    def _start(self) -> None:
        self._board = make_board(1 + self._count, _spins() if self._count else 0)
        self._locks = [Lock() for _ in range(self._count)]
        self._failures: list[BaseException] = []
        self._asked = [None]
        self._threads: list[Thread] = []
        for member, lock in enumerate(self._locks, 1):
            lock.acquire()
            common = self._board, member, lock, self._asked, self._failures
            self._threads.append(Thread(target=_belong, args=common, name="garrison-cage2", daemon=True))
            self._threads[-1].start()
        self._end = finalize(self, _end, self._board, self._locks, self._asked)
        self._process = os.getpid()

    def _disband(self) -> None:
        self.close()
        for thread in self._threads:
            thread.join()


def _belong(board: Words, member: int, lock: Any, asked: list[Asked], failures: list[BaseException]) -> None:
    """Be a member: sleep when there is nothing to do, and do what is asked for."""
    while True:
        if has_gone_to_sleep(board, member):
            lock.acquire()
        try:
            if not _do(asked[0], board, member):
                return
        except BaseException as error:  # handed to the caller, who raises it
            failures.append(error)
            return


def _do(asked: Asked, board: Words, member: int) -> bool:
    """Do what is asked for, if anything; in a function of its own, which lets go of the arrays."""
    if asked is None:
        return False
    number, work = asked
    work.kernel(*work.arguments, work.items, work.chunk, board, member, number)
    return True


def _wake(board: Words, locks: list[Any]) -> None:
    for member, lock in enumerate(locks, 1):
        if rouse(board, member):
            lock.release()


def _end(board: Words, locks: list[Any], asked: list[Asked]) -> None:
    asked[0] = None
    post(board, 0, 1, NO_CALL)
    for lock in locks:  # all of them: Ctrl-C may have come between rousing a thread and releasing its lock
        with suppress(RuntimeError):
            lock.release()


@kernel(cached=True)
def _rest(items: int, chunk: int, board: Words, member: int, call: int) -> None:
    """Wait for other work."""
    job = first_job(board, call)
    while job >= 0:
        k = take(board, job, member, items, chunk)
        while k >= 0:
            finish(board, 0)
            k = take(board, job, member, items, chunk)
        job = next_job(board, job, member, items, chunk, call)


@cache
def _spins() -> int:
    """Return how many turns of a waiting loop take `SPIN_SECONDS`; cores differ much in this."""
    turns = 1000
    wait_a_while(turns)
    times = []
    for _ in range(5):
        begun = perf_counter()
        wait_a_while(turns)
        times.append(perf_counter() - begun)
    return max(1, int(turns * SPIN_SECONDS / max(min(times), 1e-7)))
