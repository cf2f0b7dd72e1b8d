"""Imported by the fork server alone, which outlives its caller: then it removes the folder of its socket.

`multiprocessing` leaves that to the caller, which cannot do it if it is killed. A caller that lives keeps the folder:
it may start another server in it.
"""

import atexit
import os
import shutil

FOLDER = "GARRISON_FORK_SERVER_FOLDER"
"""The variable that names the folder to the server."""


def _remove(folder: str, caller: int) -> None:
    if os.getppid() != caller:  # an orphan has another parent
        shutil.rmtree(folder, ignore_errors=True)


if FOLDER in os.environ:
    atexit.register(_remove, os.environ.pop(FOLDER), os.getppid())
