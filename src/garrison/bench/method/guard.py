"""Starts a program and stays beside it: if whoever wanted it is gone, the program and all that it started go too.

A script of its own, which imports nothing of ours: it must notice the end while all that it started is stopped, and it
should cost the measured nothing. Arguments: the process that wants the program, then the program's command.
"""

import os
import signal
import sys
import threading
import time

LOOK_SECONDS = 0.25


def end_with(parent: int) -> None:
    """Kill the process group when `parent` is gone."""
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Run the command, and end as it ends."""
    parent, *command = sys.argv[1:]
    threading.Thread(target=end_with, args=(int(parent),), daemon=True).start()
    child = os.posix_spawn(command[0], command, os.environ)
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status) % 256)


if __name__ == "__main__":
    main()
