"""Which processes a process has started, directly or through Python's fork server."""

import os
import time
from contextlib import suppress
from pathlib import Path


def descendants(root: int | None = None) -> set[int]:
    """Living processes below `root` (this process), without Python's own helpers."""
    parents: dict[int, int] = {}
    helpers: set[int] = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if fields[0] == "Z":
                continue
            pid = int(stat.parent.name)
            parents[pid] = int(fields[1])
            command = (stat.parent / "cmdline").read_bytes()
            if b"resource_tracker" in command:
                helpers.add(pid)
            elif b"multiprocessing.forkserver" in command and parents[pid] == (root or os.getpid()):
                helpers.add(pid)  # its children have the same command line, but another parent
    found = {root or os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {root or os.getpid()} - helpers


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids: set[int], seconds: float = 10.0) -> bool:
    """Wait until none of the processes lives."""
    deadline = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(map(alive, pids))
