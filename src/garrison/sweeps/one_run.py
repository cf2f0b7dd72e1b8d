"""One run of a sweep, in a process of its own: `python -m garrison.sweeps.one_run`, with the job on its standard input.

It begins the run, goes on with it, or only scores it, whatever its folder asks for. The input stays open as long as
somebody waits for the run: when it ends, however that came, the run saves its checkpoint and stops, so a sweep that is
killed leaves nobody behind.
"""

import json
import os
import signal
import sys
import threading
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HELD = 75
"""The exit code if another process writes to the run: EX_TEMPFAIL, try again later."""


@dataclass(frozen=True)
class Job:
    """What a process is asked to do."""

    experiment: dict[str, Any]
    """The settings, as files have them."""
    name: str
    path: str
    """The run's folder."""
    cores: list[int]
    """The cores that it may use."""
    search_path: list[str]
    """Where its environment's module may be."""
    pinned: bool = True
    """Whether it is bound to these cores, where the system can do that, and not only told how many there are."""

    def to_line(self) -> bytes:
        """Return the job as one line."""
        return json.dumps(asdict(self)).encode() + b"\n"


def main() -> int:
    """Do the job; return the exit code."""
    job = Job(**json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=_stop_when_alone, daemon=True, name="lifeline").start()
    if hasattr(os, "sched_setaffinity"):  # before the libraries count them
        mine = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, job.cores if job.pinned else _few_of(mine, len(job.cores)))
    sys.path.extend(path for path in job.search_path if path not in sys.path and os.path.isdir(path))
    from garrison.system import let_idle_threads_sleep

    let_idle_threads_sleep()
    return do(job)


def do(job: Job) -> int:
    """Begin the run, go on with it, or score it; a failure is kept in its folder."""
    from garrison.runs.folder import RunFolder
    from garrison.storage.lock import Held

    folder = RunFolder(Path(job.path))
    folder.path.mkdir(parents=True, exist_ok=True)
    try:
        with folder.held(is_new=False):
            try:
                return _train(job, folder)
            except Exception as error:
                traceback.print_exc()
                keep_failure(job.name, folder.path, error)
                return 1
    except Held:
        return HELD


def _train(job: Job, folder: Any) -> int:
    from dataclasses import replace

    from garrison.runs import session
    from garrison.runs.experiment import Experiment
    from garrison.runs.resume import resume_values
    from garrison.runs.start import open_view

    base = replace(Experiment(), preset=str(job.experiment.get("preset", Experiment().preset)))
    experiment = Experiment.from_dict(job.experiment, base)
    summary = _summary_of_before(folder)
    values = resume_values(folder) if folder.checkpoint.exists() else None
    if values is not None and summary.get("status") == "finished":
        outcome = session.Outcome(experiment, folder, "finished", "", 0, values, summary)
    else:
        if values is None:
            folder.discard()
        view = open_view(job.name, experiment, folder, quiet=False)
        outcome = session.run(experiment, job.name, folder, view, values=values)
    session.score(outcome)
    return outcome.exit_code


def _summary_of_before(folder: Any) -> dict[str, Any]:
    """Return what an earlier attempt left; that of a failure is dropped, because this one says how it ended."""
    from garrison.errors import UserError

    try:
        summary: dict[str, Any] = folder.read_summary()
    except UserError:
        summary = {"status": "failed"}
    if summary.get("status") == "failed":
        folder.summary.unlink()
        folder.error.unlink(missing_ok=True)
        return {}
    return summary


def keep_failure(name: str, path: Path, error: Exception) -> None:
    """Leave a failure in a run's folder, also one that was refused before anything was written there."""
    from garrison.errors import GarrisonError
    from garrison.runs import marks
    from garrison.runs.folder import RunFolder
    from garrison.storage.atomic import write_json, write_text

    folder = RunFolder(path)
    path.mkdir(parents=True, exist_ok=True)
    what = error.summary if isinstance(error, GarrisonError) else str(error)
    summary = {"name": name, "status": "failed", "ended": marks.now(), "message": f"{type(error).__name__}: {what}"}
    if folder.read_summary().get("status") != "failed":  # else the run has written a longer one
        write_json(folder.summary, summary)
    if not folder.error.exists():
        write_text(folder.error, "".join(traceback.format_exception(error)))


def _few_of(cores: list[int], count: int) -> list[int]:
    """Return so many of these cores, others in every process as far as its id decides it."""
    first = os.getpid() % len(cores)
    return [cores[(first + k) % len(cores)] for k in range(min(count, len(cores)))]


def _stop_when_alone() -> None:
    while os.read(0, 1):  # not through `sys.stdin`, whose lock this thread would hold when Python ends
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
