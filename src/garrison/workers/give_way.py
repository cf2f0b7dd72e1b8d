"""Workers that let their caller finish: one that is woken does not put another process off its core.

A caller wakes its workers one by one. If the kernel hands its core to the first of them at once, as it may, the others
are woken only when the caller gets a core back: milliseconds later, which is longer than many a step.
"""

import os
import sys
from contextlib import suppress


def this_process() -> None:
    """Let this process begin when a core has become free, or at the next tick of the clock; its share stays the same.

    Children and later threads of it are scheduled as usual. Does nothing on other systems than Linux, nor to a process
    that somebody has given a policy of its own.
    """
    if sys.platform == "linux" and os.sched_getscheduler(0) == os.SCHED_OTHER:
        with suppress(OSError):  # a sandbox may forbid it
            os.sched_setscheduler(0, os.SCHED_BATCH | os.SCHED_RESET_ON_FORK, os.sched_param(0))
