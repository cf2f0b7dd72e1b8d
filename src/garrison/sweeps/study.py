"""A search's study: Optuna chooses the settings, remembers them, and says which runs are hopeless.

The study lies in a database, by default an SQLite file in the sweep's folder, so a search that was killed goes on, and
several processes and machines can work on one. A trial stays open in it until its runs are over.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrison.errors import GarrisonError
from garrison.sweeps.sweep_plan import Setting, SweepPlan
from garrison.sweeps.sweep_runs import SweepFolder
from garrison.sweeps.varied import Options, Range, Varied

NAME = "sweep"
BUSY_SECONDS = 60
"""How long to wait for a database file that others write."""
TASK = "task"
WHY = "why"
OPEN, COMPLETE, PRUNED, FAILED_TRIAL = "open", "complete", "pruned", "failed"


@dataclass(frozen=True)
class SearchTrial:
    """A setting that was tried, or is being tried."""

    setting: Setting
    state: str
    """open, complete, pruned or failed"""
    value: float | None
    reports: dict[int, float]
    """Scores during training by their number, as far as Optuna was told."""
    task: int | None
    """The task of a job array that it belongs to."""
    why: str
    """Why it failed."""


class Study:
    """The study of a search.

    Args:
        plan: the search.
        folder: where it is.
    """

    def __init__(self, plan: SweepPlan, folder: SweepFolder) -> None:
        self._plan, self._folder = plan, folder
        self._varied = {each.name: each for each in plan.varied}
        with _quiet() as optuna:
            self._study = optuna.create_study(
                storage=_storage(optuna, plan.config.storage, folder),
                study_name=plan.config.study or NAME,
                direction="maximize",
                load_if_exists=True,
                pruner=_pruner(optuna, plan.config.pruner),
            )

    def trials(self) -> list[SearchTrial]:
        """Return every trial, in the order of asking."""
        with _quiet():
            return [self._trial(frozen) for frozen in self._study.get_trials(deepcopy=False)]

    def ask(self, task: int | None = None) -> SearchTrial | None:
        """Return a new trial; None if there are as many as there should be.

        A task of a job array takes one that was asked for and is nobody's, if there is one: its asker was killed.
        """
        with _quiet() as optuna, self._folder.alone():  # who counts and then adds one must not be overtaken
            for frozen in self._study.get_trials(deepcopy=False) if task is not None else ():
                if not frozen.state.is_finished() and TASK not in frozen.user_attrs:
                    optuna.trial.Trial(self._study, frozen._trial_id).set_user_attr(TASK, task)
                    return self._trial(self._frozen(frozen.number))
            number = len(self._study.get_trials(deepcopy=False))
            if number >= self._plan.config.trials:
                return None
            # Made anew for each trial, from its number: a search that goes on does not draw again what it drew before.
            mixed = np.random.SeedSequence([self._plan.experiment.learner.seed, number])
            seed = int(mixed.generate_state(1)[0])
            self._study.sampler = _sampler(optuna, self._plan.config.sampler, seed)
            distributions = {name: _distribution(optuna, each) for name, each in self._varied.items()}
            asked = self._study.ask(distributions)
            if task is not None:
                asked.set_user_attr(TASK, task)
            return self._trial(self._frozen(asked.number))

    def report(self, trial: SearchTrial, number: int, value: float) -> bool:
        """Tell a score during training; return whether the trial is hopeless."""
        with _quiet() as optuna:
            frozen = self._frozen(trial.setting.number)
            if frozen.state.is_finished():
                return bool(frozen.state == optuna.trial.TrialState.PRUNED)
            told = optuna.trial.Trial(self._study, frozen._trial_id)  # by its id, the one way to go on with a trial
            told.report(value, number)
            return bool(told.should_prune())

    def tell(self, trial: SearchTrial, state: str, value: float | None = None, why: str = "") -> None:
        """End a trial; who comes second changes nothing."""
        with _quiet() as optuna:
            states = optuna.trial.TrialState
            frozen = self._frozen(trial.setting.number)
            if frozen.state.is_finished():
                return
            if why:
                optuna.trial.Trial(self._study, frozen._trial_id).set_user_attr(WHY, why)
            kinds = {COMPLETE: states.COMPLETE, PRUNED: states.PRUNED, FAILED_TRIAL: states.FAIL}
            self._study.tell(trial.setting.number, value, state=kinds[state], skip_if_finished=True)

    def importance(self) -> dict[str, float]:
        """Return the share of each setting in what the scores vary; empty while there are too few trials to tell."""
        with _quiet() as optuna:
            done = [t for t in self._study.get_trials(deepcopy=False) if t.value is not None]
            if len(done) < 4 or len({t.value for t in done}) < 2:
                return {}
            evaluator = optuna.importance.FanovaImportanceEvaluator(seed=0)
            try:
                found = optuna.importance.get_param_importances(self._study, evaluator=evaluator)
            except (ValueError, RuntimeError):  # such as values that are not finite
                return {}
            return {name: float(share) for name, share in found.items()}

    def _frozen(self, number: int) -> Any:
        return next(t for t in self._study.get_trials(deepcopy=False) if t.number == number)

    def _trial(self, frozen: Any) -> SearchTrial:
        word = {"COMPLETE": COMPLETE, "PRUNED": PRUNED, "FAIL": FAILED_TRIAL}.get(frozen.state.name, OPEN)
        values = {name: _value(each, frozen.params.get(name)) for name, each in self._varied.items()}
        task = frozen.user_attrs.get(TASK)
        setting = Setting(frozen.number, values)
        value = frozen.value if word == COMPLETE else None
        reports = dict(frozen.intermediate_values)
        return SearchTrial(setting, word, value, reports, task, str(frozen.user_attrs.get(WHY, "")))


@contextmanager
def _quiet() -> Iterator[Any]:
    """Use Optuna without its lines on the screen; failures of the database become sentences."""
    import optuna
    from sqlalchemy.exc import SQLAlchemyError

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield optuna
    except (optuna.exceptions.StorageInternalError, SQLAlchemyError) as error:
        first = str(error).splitlines()[0]
        raise GarrisonError(
            f"the study cannot be read or written: {first}",
            hint="Look after its database: study.db in the sweep's folder, or what --storage names.",
        ) from error
    finally:
        optuna.logging.set_verbosity(before)


def _storage(optuna: Any, url: str, folder: SweepFolder) -> Any:
    url = url or f"sqlite:///{folder.study.resolve()}"
    options = {"connect_args": {"timeout": BUSY_SECONDS}} if url.startswith("sqlite") else {}
    return optuna.storages.RDBStorage(url, engine_kwargs=options)


def _sampler(optuna: Any, name: str, seed: int) -> Any:
    if name == "tpe":  # trials that are still open count as bad ones, so that several at once differ
        return optuna.samplers.TPESampler(seed=seed, constant_liar=True)
    kinds = {"random": "RandomSampler", "cmaes": "CmaEsSampler", "gp": "GPSampler"}
    return getattr(optuna.samplers, kinds[name])(seed=seed)


def _pruner(optuna: Any, name: str) -> Any:
    kinds = {
        "none": "NopPruner",
        "median": "MedianPruner",
        "halving": "SuccessiveHalvingPruner",
        "hyperband": "HyperbandPruner",
    }
    return getattr(optuna.pruners, kinds[name])()


def _distribution(optuna: Any, each: Varied) -> Any:
    distributions = optuna.distributions
    if isinstance(each, Range):
        if each.is_whole:
            step = int(each.step) if each.step else 1
            return distributions.IntDistribution(int(each.low), int(each.high), each.log, step)
        return distributions.FloatDistribution(each.low, each.high, each.log, each.step)
    return distributions.CategoricalDistribution(_choices(each))


def _choices(each: Options) -> Sequence[Any]:
    """Return the options as a database keeps them: lists, which it does not, by what is written of them."""
    return tuple(repr(value) if isinstance(value, list) else value for value in each.values)


def _value(each: Varied, kept: Any) -> Any:
    if isinstance(each, Options) and kept in (choices := _choices(each)):
        return each.values[choices.index(kept)]
    return kept
