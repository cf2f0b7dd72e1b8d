"""Ctrl-C that lets a run finish what it is doing."""

import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

try:
    import termios
except ImportError:  # not a Unix
    termios = None  # type: ignore[assignment]

LOCAL_FLAGS = 3  # where `tcgetattr` keeps them
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """While entered, the first SIGINT or SIGTERM only sets `signal`; the second one interrupts at once.

    Args:
        notice: called at the first signal.
    """

    def __init__(self, notice: Callable[[], None]) -> None:
        self.signal: int | None = None
        self._notice = notice
        self._before: dict[int, Any] = {}

    @property
    def exit_code(self) -> int:
        """What a shell expects of a program that this signal ended; 0 without one."""
        return 128 + self.signal if self.signal is not None else 0

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # elsewhere Python has no signals
            self._before = {number: signal.signal(number, self._take) for number in SIGNALS}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number
        self._notice()


class SilentInterrupts:
    """While entered, the terminal does not print ^C, which would move a panel that is redrawn in place."""

    _before: list[Any] | None = None

    def __enter__(self) -> Self:
        if termios is not None and sys.stdin is not None and sys.stdin.isatty():
            self._before = termios.tcgetattr(sys.stdin)
            flags = [*self._before]
            flags[LOCAL_FLAGS] &= ~termios.ECHOCTL
            termios.tcsetattr(sys.stdin, termios.TCSANOW, flags)
        return self

    def __exit__(self, *error: object) -> None:
        if termios is not None and self._before is not None:
            termios.tcsetattr(sys.stdin, termios.TCSANOW, self._before)
