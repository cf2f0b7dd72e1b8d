"""Threads that run compiled calls side by side.

Calls are short and many, and whoever is free takes the next: a thread that wakes late then costs little, where a fixed
share would hold up the others. Handing over goes through queues that are written in C; an executor's futures and
conditions cost a tenth of a millisecond, as much as stepping a thousand environments.
"""

from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from threading import Thread
from weakref import finalize

Call = Callable[[], int]
Outcome = int | BaseException


class Lanes:
    """`count` threads beside the caller's; they end when told to, or when nobody knows them any more."""

    def __init__(self, count: int) -> None:
        self._orders: list[SimpleQueue[Iterator[Call] | None]] = [SimpleQueue() for _ in range(count)]
        self._outcomes: SimpleQueue[Outcome] = SimpleQueue()
        for orders in self._orders:
            Thread(target=_work, args=(orders, self._outcomes), name="garrison-cage2", daemon=True).start()
        self._end = finalize(self, _end, self._orders)

    def run(self, calls: Sequence[Call]) -> int:
        """Make all calls, each once, in this thread and the others; return the sum of their results."""
        rest = iter(calls)  # `next` of a list's iterator is one step of the interpreter: no two threads get the same
        for orders in self._orders:
            orders.put(rest)
        outcomes = [_take(rest)]
        outcomes += [self._outcomes.get() for _ in self._orders]
        total = 0
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
            total += outcome
        return total

    def close(self) -> None:
        """Let the threads end."""
        self._end()


def _work(orders: "SimpleQueue[Iterator[Call] | None]", outcomes: "SimpleQueue[Outcome]") -> None:
    while (rest := orders.get()) is not None:
        outcomes.put(_take(rest))


def _take(rest: Iterator[Call]) -> Outcome:
    """Make calls while there are any; return the sum of their results, or the exception that ended it."""
    try:
        return sum(int(call()) for call in rest)
    except BaseException as error:  # handed to the caller, who raises it when all threads are through
        return error


def _end(queues: "list[SimpleQueue[Iterator[Call] | None]]") -> None:
    for orders in queues:
        orders.put(None)
