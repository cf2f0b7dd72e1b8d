"""What starting processes write to standard error, kept in case they end before they can say anything themselves.

A process that fails before its work begins, such as in an import, tells its caller nothing: Python prints why and ends.
So processes start with a nameless file for standard error, and turn to the real one when their work begins.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import reduction, resource_tracker
from typing import Any

from garrison.workers.memory import nameless_file

MOST_BYTES = 4096
"""How much is read, from the end."""
STDERR = 2

_files: list[int] = []  # one for all: a fork server passes on what it was started with


class RealStderr:
    """The caller's standard error on its way to a new process, which starts with another one."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def take(self) -> None:
        """Write to it from now on."""
        os.dup2(self.descriptor, STDERR)
        os.close(self.descriptor)

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (reduction.DupFd(self.descriptor),)


@contextmanager
def collected() -> Iterator[RealStderr | None]:
    """Let processes that are started inside begin with the file; yields what they turn to when their work begins."""
    try:
        real = os.dup(STDERR)
    except OSError:  # there is none
        yield None
        return
    try:
        resource_tracker.ensure_running()  # it stays, and must keep the real one
        os.dup2(_file(), STDERR)
        yield RealStderr(real)
    finally:
        os.dup2(real, STDERR)
        os.close(real)


def mark() -> int:
    """Return where the file ends now: what comes behind was written later."""
    return os.fstat(_file()).st_size


def since(start: int) -> str:
    """Return what was written behind a mark, or the end of it."""
    end = mark()
    with suppress(OSError):
        return os.pread(_file(), MOST_BYTES, max(start, end - MOST_BYTES)).decode(errors="replace").strip()
    return ""


def reason(words: str) -> str:
    """Return the line that says why a process ended, although another one may be in the middle of its own traceback."""
    lines = [line for line in words.splitlines() if line.strip()]
    conclusions = [line for line in lines if not line[0].isspace() and not line.startswith("Traceback ")]
    return (conclusions or lines or [""])[-1].strip()


def _file() -> int:
    if not _files:
        _files.append(nameless_file(appending=True))
    return _files[0]


def _received(descriptor: Any) -> RealStderr:
    return RealStderr(descriptor.detach())
