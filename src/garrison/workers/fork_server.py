"""Imported by the fork server alone, which outlives its caller: then it removes the folder of its socket.

`multiprocessing` leaves that to the caller, which cannot do it if it is killed. A caller that lives keeps the folder:
it may start another server in it.
"""

import atexit
import os
import shutil
import time

FOLDER = "GARRISON_FORK_SERVER_FOLDER"
"""The variable that names the folder to the server."""

ORPHANED_WITHIN = 2.0
"""Seconds for a caller to be gone: the system closes a dying process' files first, and takes its children after."""


def _remove(folder: str, caller: int) -> None:
    deadline = time.monotonic() + ORPHANED_WITHIN
    while os.getppid() == caller:  # an orphan has another parent
        if time.monotonic() > deadline:
            return
        time.sleep(0.005)
    shutil.rmtree(folder, ignore_errors=True)


if FOLDER in os.environ:
    atexit.register(_remove, os.environ.pop(FOLDER), os.getppid())
