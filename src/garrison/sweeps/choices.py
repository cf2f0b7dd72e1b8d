"""Which settings a sweep has so far, and which run comes next: all of a grid, or what a study asks for."""

from collections.abc import Callable, Iterator
from typing import Protocol

from garrison.errors import UserError
from garrison.sweeps.evaluations import Evaluations
from garrison.sweeps.study import COMPLETE, FAILED_TRIAL, OPEN, PRUNED, SearchTrial, Study
from garrison.sweeps.sweep_plan import Setting, SweepPlan
from garrison.sweeps.sweep_runs import DIVERGED, FAILED, FINISHED, RunLook, SweepFolder, SweepRun, mean_score

Look = Callable[[SweepRun], RunLook]


class Choices(Protocol):
    """What a sweep trains."""

    def candidates(self, look: Look) -> Iterator[SweepRun]:
        """Give the runs that are not over, in the order of their turn; who starts them sees to it that none has two."""

    def add(self) -> bool:
        """Add a setting; return False if there are enough."""

    def ended(self, run: SweepRun, look: Look) -> str:
        """Take note that a run has ended, or was found so; return a word if that means more than its folder says."""

    def is_hopeless(self, run: SweepRun) -> bool:
        """Return whether a run that goes on is to be stopped."""


class GridChoices:
    """Every combination of a grid, with every seed.

    Args:
        plan: the sweep.
        folder: where it is.
        task: the number of the only run to look after, of a job array.
    """

    def __init__(self, plan: SweepPlan, folder: SweepFolder, task: int | None = None) -> None:
        self._runs = runs_of_grid(plan, folder)
        if task is not None:
            if not 0 <= task < len(self._runs):
                raise UserError(f"the sweep has the runs 0 to {len(self._runs) - 1}; there is no task {task}.")
            self._runs = self._runs[task : task + 1]

    def candidates(self, look: Look) -> Iterator[SweepRun]:
        """Give what is not over; a run that failed in an earlier attempt has another one."""
        return (run for run in self._runs if look(run).state not in (FINISHED, DIVERGED))

    def add(self) -> bool:
        """All settings are known from the start."""
        return False

    def ended(self, run: SweepRun, look: Look) -> str:
        """Its folder says everything."""
        return ""

    def is_hopeless(self, run: SweepRun) -> bool:
        """A grid is trained whole."""
        return False


class SearchChoices:
    """What Optuna chooses; a trial is trained with every seed, and its mean score is its value.

    Pruning looks at the first seed of a trial, so the others wait until it is finished.

    Args:
        plan: the sweep.
        folder: where it is.
        study: its study.
        task: the number of a task of a job array, which looks after one trial.
    """

    def __init__(self, plan: SweepPlan, folder: SweepFolder, study: Study, task: int | None = None) -> None:
        self._plan, self._folder, self._study, self._task = plan, folder, study, task
        self._following: dict[str, Evaluations] = {}
        self._told: set[str] = set()

    def candidates(self, look: Look) -> Iterator[SweepRun]:
        """Give the open runs of open trials; a trial whose runs are all over is closed on the way."""
        for trial in self._trials():
            if trial.state == OPEN and not self._close(trial, look):
                runs = self._runs(trial.setting)
                waits = self._plan.prunes and look(runs[0]).state != FINISHED
                yield from (run for run in (runs[:1] if waits else runs) if look(run).state not in (FINISHED, FAILED))

    def add(self) -> bool:
        """Ask for another trial."""
        if self._task is not None and self._trials():
            return False
        return self._study.ask(self._task) is not None

    def ended(self, run: SweepRun, look: Look) -> str:
        """Close the trial if this was its last run; return `pruned` if it was stopped for being hopeless."""
        trial = self._trial(run.setting)
        if trial.state == OPEN:
            self._close(trial, look)
        return PRUNED if self._trial(run.setting).state == PRUNED and look(run).state != FINISHED else ""

    def is_hopeless(self, run: SweepRun) -> bool:
        """Tell Optuna the new scores of a trial's first seed; close the trial if it should be pruned."""
        if not self._plan.prunes or run.seed != self._plan.seeds[0] or run.name in self._told:
            return False
        following = self._following.setdefault(run.name, Evaluations(run.path / "metrics.jsonl"))
        before = len(following.scores)
        scores = following.look()
        if len(scores) == before or not self._report(run, scores):
            return False
        self._told.add(run.name)
        return True

    def _report(self, run: SweepRun, scores: list[float]) -> bool:
        trial = self._trial(run.setting)
        for number, score in enumerate(scores, start=1):
            if number not in trial.reports and self._study.report(trial, number, score):
                self._study.tell(trial, PRUNED)
                return True
        return False

    def _close(self, trial: SearchTrial, look: Look) -> bool:
        """End a trial whose runs have said everything; return whether it has ended."""
        looks = [look(run) for run in self._runs(trial.setting)]
        by_state = {each.state: each for each in looks}
        if FAILED in by_state:
            self._study.tell(trial, FAILED_TRIAL, why=by_state[FAILED].message)
        elif DIVERGED in by_state:  # a setting that is worse than any score: Optuna learns to stay away
            self._study.tell(trial, PRUNED, why=by_state[DIVERGED].message)
        elif (score := mean_score(looks)) is not None:
            self._study.tell(trial, COMPLETE, score.mean)
        elif set(by_state) == {FINISHED}:
            self._study.tell(trial, FAILED_TRIAL, why="its runs have neither a score nor a return")
        else:
            return False
        return True

    def _trials(self) -> list[SearchTrial]:
        found = self._study.trials()
        return found if self._task is None else [trial for trial in found if trial.task == self._task]

    def _trial(self, setting: Setting) -> SearchTrial:
        return next(trial for trial in self._study.trials() if trial.setting.number == setting.number)

    def _runs(self, setting: Setting) -> list[SweepRun]:
        return runs_of_setting(self._plan, self._folder, setting)


def runs_of_setting(plan: SweepPlan, folder: SweepFolder, setting: Setting) -> list[SweepRun]:
    """Return the runs of a setting, one for each seed."""
    return [SweepRun(setting, seed, folder.run(setting.number, seed)) for seed in plan.seeds]


def runs_of_grid(plan: SweepPlan, folder: SweepFolder) -> list[SweepRun]:
    """Return every run of a grid; the first seed of every setting comes before the second of any."""
    by_setting = [runs_of_setting(plan, folder, setting) for setting in plan.settings]
    return [runs[k] for k in range(plan.config.seeds) for runs in by_setting]


def make_choices(plan: SweepPlan, folder: SweepFolder, study: Study | None, task: int | None) -> Choices:
    """Return what a sweep trains; `study` is that of a search."""
    return GridChoices(plan, folder, task) if study is None else SearchChoices(plan, folder, study, task)
