"""One writer at a time: a folder is locked while it is written, and whoever comes second learns who holds it.

The lock is the system's (`flock`), so it goes with the process that holds it, however that ends. The file only says
whose it is; it is removed in the end, and one that was left behind by a crash locks nothing.
"""

import errno
import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from time import sleep
from typing import IO, Any

from garrison.errors import UserError

NAME = ".lock"
ATTEMPTS = 5
PAUSE = 0.01
"""Seconds between attempts: who only looks whether somebody writes has the lock for less."""


class Held(UserError):
    """Somebody else writes to the folder."""


@contextmanager
def only_writer(folder: Path, hint: str) -> Iterator[None]:
    """Hold a folder; raise `Held` that names the holder, with this hint, if another process writes to it.

    Where the system has no such locks, a sentence says so, and nothing is held.
    """
    path = folder / NAME
    for attempt in range(ATTEMPTS):
        try:
            file = _lock(path)
            break
        except BlockingIOError:
            if attempt == ATTEMPTS - 1:
                raise Held(f"{folder} is being written by {_signed(path)}.", hint=hint) from None
            sleep(PAUSE)
    if file is None:
        print(f"garrison: {folder} cannot be locked here: let no other process write to it.", file=sys.stderr)
        yield
        return
    try:
        _sign(file)
        yield
    finally:
        path.unlink(missing_ok=True)  # still locked, so nobody takes a file that is about to go
        file.close()


def holder(folder: Path) -> str | None:
    """Return who writes to a folder, such as `process 12 on here since 2026-01-01 12:00:00`; None if nobody does.

    A file that a crash left behind is nobody's. Where the system has no locks, the file's word has to do.
    """
    path = folder / NAME
    try:
        file = path.open(encoding="utf-8")
    except OSError:
        return None
    with file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except (ImportError, OSError):
            return _signed(path)
    return None


def _lock(path: Path) -> IO[str] | None:
    """Open the file and lock it; None where there are no locks; raises BlockingIOError if it is locked."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    while True:
        file = path.open("a+", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(path, file):
                return file
        except BlockingIOError:
            file.close()
            raise
        except OSError as error:
            file.close()
            if error.errno in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):  # some network file systems
                return None
            raise
        file.close()  # the last holder has removed this file in the meantime: there is a new one to lock


def _is_at(path: Path, file: IO[str]) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _sign(file: IO[str]) -> None:
    file.truncate(0)
    json.dump({"pid": os.getpid(), "host": socket.gethostname(), "since": f"{datetime.now():%Y-%m-%d %H:%M:%S}"}, file)
    file.flush()


def _signed(path: Path) -> str:
    try:
        said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return f"process {said['pid']} on {said['host']} since {said['since']}"
    except (OSError, ValueError, LookupError, TypeError):  # it has only just begun
        return "another process"
