"""The runs of a sweep on the disk: where each is, and how far, told by its own folder alone."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import sleep

from garrison.report.history import REWARD, RunHistory
from garrison.report.run_groups import score_of
from garrison.report.run_state import RUNNING, state_of
from garrison.runs.folder import RunFolder
from garrison.storage.lock import Held, only_writer
from garrison.sweeps.sweep_plan import FILE, Setting
from garrison.tasks.confidence import Interval, mean95

RUNS = "runs"
STUDY = "study.db"
TABLE = "table.csv"
BEST = "best.yaml"
OUTPUT = "output.txt"
"""In a run's folder: what its process printed."""
ROWS = 200  # of a run's metrics that are read
PAUSE = 0.05  # seconds before another attempt to be alone
FINISHED, FAILED, DIVERGED, WAITING, STOPPED = "finished", "failed", "diverged", "waiting", "stopped"
OVER = (FINISHED, DIVERGED)
"""States in which a run has said all that it can say."""
SCORED = ("evaluation", "unscored")


@dataclass(frozen=True)
class SweepFolder:
    """Paths of a sweep."""

    path: Path

    @property
    def plan(self) -> Path:
        """The plan."""
        return self.path / FILE

    @property
    def study(self) -> Path:
        """Optuna's study, unless it is kept elsewhere."""
        return self.path / STUDY

    @property
    def table(self) -> Path:
        """A row for each run."""
        return self.path / TABLE

    @property
    def best(self) -> Path:
        """The best settings, to train from."""
        return self.path / BEST

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be the only process of this sweep that does what is inside; others wait, so it must be brief."""
        with ExitStack() as stack:
            while True:
                try:
                    stack.enter_context(only_writer(self.path, ""))
                    break
                except Held:
                    sleep(PAUSE)
            yield

    def run(self, setting: int, seed: int) -> Path:
        """Return the folder of a run."""
        return self.path / RUNS / f"{setting:04}-seed-{seed}"


@dataclass(frozen=True)
class SweepRun:
    """One run of a sweep."""

    setting: Setting
    seed: int
    path: Path

    @property
    def name(self) -> str:
        """What it is called."""
        return self.path.name

    def look(self) -> "RunLook":
        """Return how far it is."""
        if not self.path.is_dir():
            return RunLook(WAITING, None)
        history = RunHistory.glance(self.path, ROWS)
        state = state_of(history)
        word = state.word
        if word == FINISHED and not is_scored(history):
            word = STOPPED  # killed before its score
        elif word not in (RUNNING, FINISHED, DIVERGED, FAILED):
            word = STOPPED if RunFolder(self.path).checkpoint.exists() else WAITING
        return RunLook(word, history, state.text if word in (FAILED, DIVERGED) else "")


@dataclass(frozen=True)
class RunLook:
    """How far a run is."""

    state: str
    history: RunHistory | None
    message: str = ""

    @property
    def score(self) -> tuple[float, float | None] | None:
        """What it scored at its end, with its reach; without a score of its own, its last mean return."""
        if self.state != FINISHED or self.history is None:
            return None
        if (found := score_of(self.history)) is not None:
            return found
        returns = self.history.series(REWARD)[2]
        return (float(returns[-1]), None) if len(returns) else None


def is_scored(run: RunHistory) -> bool:
    """Return whether a finished run has its score, or never gets one."""
    return run.settings.get("run.evaluate_episodes") == 0 or any(key in run.summary for key in SCORED)


def mean_score(looks: list[RunLook]) -> Interval | None:
    """Return the mean score of a setting over its seeds; None until all of them are finished."""
    scores = [look.score for look in looks]
    known = [score[0] for score in scores if score is not None]
    return mean95(known) if known and len(known) == len(looks) else None
