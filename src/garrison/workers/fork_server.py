"""Imported by the fork server alone, which outlives its caller: it removes the folder of its socket when it ends.

`multiprocessing` leaves that to the caller, which cannot do it if it is killed.
"""

import atexit
import os
import shutil

FOLDER = "GARRISON_FORK_SERVER_FOLDER"
"""The variable that names the folder to the server."""

if FOLDER in os.environ:
    atexit.register(shutil.rmtree, os.environ.pop(FOLDER), ignore_errors=True)
