"""Where the runs of a sweep are trained: processes here, each with its share of the cores."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from garrison.errors import UserError
from garrison.learn.registry import LEARNERS
from garrison.runs.experiment import Experiment
from garrison.sweeps.one_run import Job
from garrison.sweeps.sweep_plan import SweepPlan
from garrison.sweeps.sweep_runs import OUTPUT
from garrison.sweeps.varied import Options, with_values
from garrison.system import cores
from garrison.workers.pin import VARIABLES


class RunProcess(Protocol):
    """A run that is being trained somewhere."""

    def poll(self) -> int | None:
        """Return its exit code, None while it goes on; negative if a signal ended it."""

    def stop(self) -> None:
        """Let it save its checkpoint and end."""

    def kill(self) -> None:
        """End it at once, and whatever it has started."""


class Slots(Protocol):
    """Places for runs."""

    count: int
    """How many runs there is room for at once."""

    def start(self, job: Job) -> RunProcess:
        """Start a run; there must be room for it."""

    def close(self) -> None:
        """Give the places back."""

    def describe(self) -> str:
        """Return where and how many, in a phrase."""


class LocalSlots:
    """Processes on this machine; each run has cores of its own, so together they never ask for more than there are.

    Args:
        needed: cores that a run has use for.
        jobs: how many runs at once; 0 for as many as the cores bear.
        runs: how many runs there are: with fewer than places, each gets more cores.
    """

    def __init__(self, needed: int, jobs: int, runs: int) -> None:
        usable = usable_cores()
        self.count = jobs or max(1, min(len(usable) // needed, runs))
        self._shares = shares_of(usable, self.count)
        self._taken: dict[int, RunProcess] = {}

    def start(self, job: Job) -> RunProcess:
        """Start a run on a share of the cores that is free."""
        free = [k for k in range(self.count) if k not in self._taken or self._taken[k].poll() is not None]
        self._taken[free[0]] = process = LocalProcess(replace(job, cores=self._shares[free[0]]))
        return process

    def close(self) -> None:
        """There is nothing to give back."""

    def describe(self) -> str:
        """Return how many at once."""
        each = len(self._shares[0])
        return f"{self.count} at once, {each} {'core' if each == 1 else 'cores'} each"


class LocalProcess:
    """A run in a process of this machine."""

    def __init__(self, job: Job) -> None:
        path = Path(job.path)
        path.mkdir(parents=True, exist_ok=True)
        threads = str(max(1, len(job.cores)))
        environment = {**os.environ, **dict.fromkeys(VARIABLES, threads), "PYTHON_CPU_COUNT": threads}
        with (path / OUTPUT).open("ab") as output:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "garrison.sweeps.one_run"],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,  # Ctrl-C is for the sweep, which passes it on
            )
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(job.to_line())
            self._child.stdin.flush()  # and stays open: its end would stop the run
        except BrokenPipeError:  # it has ended already; its output says why
            pass

    def poll(self) -> int | None:
        """Return its exit code."""
        code = self._child.poll()
        if code is not None and self._child.stdin is not None:
            self._child.stdin.close()
        return code

    def stop(self) -> None:
        """Ask it to save and end."""
        if self._child.poll() is None:
            self._child.terminate()

    def kill(self) -> None:
        """End it and its workers, which are in its session."""
        if self._child.poll() is None:
            os.killpg(self._child.pid, 9)
        self._child.wait()
        self.poll()


def check_jobs(jobs: int) -> None:
    """Refuse a number of runs at once that is none."""
    if jobs < 0:
        raise UserError(f"--jobs must be 0 (as many as the cores bear) or more; got {jobs}.")


def usable_cores() -> list[int]:
    """Return the cores that this process may use; numbers that mean nothing where a process cannot be told its own."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(cores()))


def shares_of(usable: list[int], count: int) -> list[list[int]]:
    """Divide cores among so many runs, as evenly as it goes; more runs than cores share them.

    >>> shares_of([0, 1, 2, 3, 4], 2), shares_of([0, 1], 3)
    ([[0, 1, 2], [3, 4]], [[0], [1], [0]])
    """
    if count >= len(usable):
        return [[usable[k % len(usable)]] for k in range(count)]
    each, more = divmod(len(usable), count)
    found, at = [], 0
    for k in range(count):
        size = each + (k < more)
        found.append(usable[at : at + size])
        at += size
    return found


def most_cores(plan: SweepPlan) -> int:
    """Return how many cores the runs of a sweep have use for, at least, each."""
    base = plan.experiment
    if not plan.is_search:
        return max(cores_needed(with_values(base, setting.values)) for setting in plan.settings)
    found = [cores_needed(base)]
    for each in plan.varied:
        tops = each.values if isinstance(each, Options) else (int(each.high) if each.is_whole else each.high,)
        found += [cores_needed(with_values(base, {each.name: top})) for top in tops]
    return max(found)


def cores_needed(experiment: Experiment) -> int:
    """Return how many cores a run has use for at least: its processes, or the threads that it was told to have."""
    learner: Any = experiment.learner
    kind = LEARNERS[experiment.algorithm]
    if kind.on_device:
        return cores()  # XLA takes the whole machine
    if kind.has_actors:
        actors = learner.actors if learner.actors >= 0 else 2
        return int(max(1, actors + (0 if experiment.algorithm == "a3c" else 1)))
    return int(max(1, experiment.env.workers, learner.threads))
