"""One line on the terminal that says what is being done, and is gone when it is done."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from shutil import get_terminal_size

CLEAR = "\r\x1b[K"


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Give a function that shows a text in the place of the last one; files and pipes get nothing."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return

    def say(text: str) -> None:
        print(f"{CLEAR}{text[: get_terminal_size().columns - 1]}", end="", file=sys.stderr, flush=True)

    try:
        yield say
    finally:
        print(CLEAR, end="", file=sys.stderr, flush=True)
