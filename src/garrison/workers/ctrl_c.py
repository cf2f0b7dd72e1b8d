"""Ctrl-C around work that must not be torn in the middle, and that must not lose it.

Python raises KeyboardInterrupt wherever the main thread is. Inside a finalizer or a callback of the garbage collector
it is printed and dropped; between the start of a process and the note of it, it leaves the process without an owner.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Made = TypeVar("Made")


@contextmanager
def deferred() -> Iterator[None]:
    """Let Ctrl-C wait until the end of the block, which must be short."""
    before = _handler()
    if before is None:
        yield
        return
    waiting: list[Any] = []
    signal.signal(signal.SIGINT, lambda _, frame: waiting.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting:
            before(signal.SIGINT, waiting[-1])


class _Makings(threading.local):
    """What to undo if a making fails, for each that is under way in this thread, the innermost last."""

    def __init__(self) -> None:
        self.undo: list[list[Callable[[], None]]] = []


_makings = _Makings()


def undo_with(close: Callable[[], None]) -> None:
    """Call `close` if the making that is under way fails; say so before there is anything to close."""
    if _makings.undo:
        _makings.undo[-1].append(close)


def make(build: Callable[[], Made], close: Callable[[Made], None]) -> Made:
    """Return `build()`; a Ctrl-C during it is always raised here, wherever it landed, and what was built is closed."""
    before = _handler()
    raised: list[BaseException] = []

    def note(number: int, frame: Any) -> None:
        assert before is not None
        try:
            before(number, frame)
        except BaseException as error:
            raised.append(error)
            if not is_over:
                raise

    is_over = False  # from then on an interrupt waits for the end of this function
    undo: list[Callable[[], None]] = []
    _makings.undo.append(undo)
    try:
        if before is not None:
            signal.signal(signal.SIGINT, note)
        made = build()
    except BaseException as error:
        with deferred():
            for each in reversed(undo):
                each()
        if raised and error is not raised[-1]:  # it landed where Python drops it, or has become another error
            raise raised[-1] from error
        raise
    finally:
        is_over = True
        _makings.undo.pop()
        if before is not None:
            signal.signal(signal.SIGINT, before)
    if raised:
        close(made)
        raise raised[-1]
    return made


def _handler() -> Callable[[int, Any], Any] | None:
    """Return what Ctrl-C calls, if it is a function of Python and this the thread in which it runs."""
    if threading.current_thread() is not threading.main_thread():
        return None
    found = signal.getsignal(signal.SIGINT)
    return found if callable(found) else None
