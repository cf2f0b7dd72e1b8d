"""Which processes were started, whether they live, what they hold: for tests that nothing stays behind."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGALRM, alarm, signal

import psutil

HANG = 120
"""Seconds after which a test counts as hanging: far more than any takes, however busy the machine."""


def descendants(root: int | None = None) -> set[int]:
    """Return the living processes below `root` (this process), without Python's own helpers."""
    top = psutil.Process(root)
    return {child.pid for child in top.children(recursive=True) if alive(child.pid) and not _is_helper(child, top.pid)}


def _is_helper(process: psutil.Process, root: int) -> bool:
    try:
        command = " ".join(process.cmdline())
        # The children of a fork server have its command line, but another parent.
        is_server = "multiprocessing.forkserver" in command and process.ppid() == root
    except psutil.Error:
        return False
    return is_server or "resource_tracker" in command


def children() -> set[int]:
    """Return this process's children that it has not taken leave of, zombies included, without Python's own helpers."""
    here = psutil.Process()
    return {child.pid for child in here.children() if not _is_helper(child, here.pid)}


def alive(pid: int) -> bool:
    """Return whether a process runs; a zombie only waits for its parent to notice."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def gone(pids: Iterable[int], seconds: float = HANG) -> bool:
    """Wait until none of the processes lives; return whether that came true."""
    left = set(pids)
    return eventually(lambda: not any(map(alive, left)), seconds)


def eventually(claim: Callable[[], bool], seconds: float = HANG) -> bool:
    """Wait until a claim holds; return whether it came true."""
    deadline = time.monotonic() + seconds
    while not claim():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a process has used itself."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def listening(pids: set[int]) -> set[str]:
    """Return the addresses on which these processes accept connections."""
    found = set()
    for pid in filter(alive, pids):
        sockets = psutil.Process(pid).net_connections("tcp")
        found |= {socket.laddr.ip.removeprefix("::ffff:") for socket in sockets if socket.status == psutil.CONN_LISTEN}
    return found


def shared_memory() -> set[str]:
    """Return the names of shared memory on this machine."""
    return {path.name for path in Path("/dev/shm").iterdir() if not path.name.startswith("sem.")}


@contextmanager
def nothing_hangs_or_stays() -> Iterator[None]:
    """Fail if the block takes for ever, or leaves a process or shared memory behind."""

    def hang(*_: object) -> None:
        raise AssertionError("a fault led to a hang")

    processes, memory = descendants(), shared_memory()
    before = signal(SIGALRM, hang)
    alarm(HANG)
    try:
        yield
    finally:
        alarm(0)
        signal(SIGALRM, before)
    assert gone(descendants() - processes)
    new = shared_memory() - memory  # or of a neighbour, who will remove it too
    assert eventually(lambda: not new & shared_memory()), new
