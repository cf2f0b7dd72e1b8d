"""Threads that run compiled calls side by side.

Calls are short and many, and whichever thread is free takes the next: a thread that wakes late then costs little, where
a fixed share would hold up the others. Handing over goes through queues that are written in C; an executor's futures
and conditions cost a tenth of a millisecond, as much as stepping a thousand environments.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from threading import Thread
from weakref import finalize

Call = Callable[[], int]
Outcome = int | BaseException
Tasks = SimpleQueue[Iterator[Call] | None]


class ThreadTeam:
    """`count` threads beside the caller's.

    They start with the first calls, also in a forked child, where threads do not survive. They end with `close`, or
    when the team is garbage.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._process = 0  # the one that the threads run in
        self._tasks: list[Tasks] = []

    def run(self, calls: Sequence[Call]) -> int:
        """Make all calls, each once, in this thread and the others; return the sum of their results."""
        if self._process != os.getpid():
            self._start()
        rest = iter(calls)  # `next` of a list's iterator is one step of the interpreter: no two threads get the same
        for tasks in self._tasks:
            tasks.put(rest)
        outcomes = [_take(rest)]
        outcomes += [self._outcomes.get() for _ in self._tasks]
        total = 0
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
            total += outcome
        return total

    def close(self) -> None:
        """Let the threads end."""
        if self._process == os.getpid():
            self._end()
        self._process = 0

    def _start(self) -> None:
        self._tasks = [SimpleQueue() for _ in range(self._count)]
        self._outcomes: SimpleQueue[Outcome] = SimpleQueue()
        for tasks in self._tasks:
            Thread(target=_work, args=(tasks, self._outcomes), name="garrison-cage2", daemon=True).start()
        self._end = finalize(self, _end, self._tasks)
        self._process = os.getpid()


def _work(tasks: Tasks, outcomes: "SimpleQueue[Outcome]") -> None:
    while (rest := tasks.get()) is not None:
        outcomes.put(_take(rest))


def _take(rest: Iterator[Call]) -> Outcome:
    """Make calls while there are any; return the sum of their results, or the exception that ended it."""
    try:
        return sum(int(call()) for call in rest)
    except BaseException as error:  # handed to the caller, who raises it when all threads are done
        return error


def _end(team: list[Tasks]) -> None:
    for tasks in team:
        tasks.put(None)
