"""Callbacks: what a user's own code does between the updates of a run.

Trackers are told, and may fail; callbacks take part, so one that raises ends the run with its name.
"""

import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from garrison.contract.importing import made_by_name
from garrison.errors import GarrisonError, UserError
from garrison.learn.run import RunLog
from garrison.runs.experiment import Experiment
from garrison.runs.follower import Follower
from garrison.runs.recorder import Recorder
from garrison.storage import checkpoint
from garrison.storage.schema import is_plain
from garrison.tasks.cage2 import parse_odds


class CallbackFailed(GarrisonError):
    """A user's callback raised; the run ends with its last checkpoint."""


@dataclass(frozen=True)
class Evaluated:
    """A score during training, and the policy that has it."""

    step: int
    total: float
    """What decides which checkpoint is the best: in CAGE-2 the official total."""
    metrics: dict[str, float]
    """What the metrics say of it."""
    _values: dict[str, Any] = field(repr=False)

    def save(self, path: str | Path) -> None:
        """Write the checkpoint that was scored: `garrison evaluate`, `watch` and `export` read it."""
        checkpoint.save(Path(path), {**self._values, "total": self.total})


class Training:
    """The run that callbacks take part in."""

    def __init__(self, experiment: Experiment, folder: Path | None, log: Follower, envs: Any) -> None:
        self.experiment, self.folder = experiment, folder
        self.step = log.first_step
        """Environment steps that are learned from."""
        self.metrics: dict[str, float] = {}
        """Of the newest update, see docs/metrics.md."""
        self._log, self._envs, self._red = log, envs, ""

    @property
    def red(self) -> str:
        """Who attacks in CAGE-2, as the setting `red` writes it; new episodes draw by it."""
        return self._red or self.experiment.env.red

    def set_red(self, red: str | Mapping[str, float]) -> None:
        """Change who attacks in CAGE-2 from each environment's next episode on; checkpoints keep it.

        Args:
            red: as the setting `red` writes it (`meander`, `bline:0.3,meander:0.7`), or attackers with their odds.
        """
        odds = parse_odds(red) if isinstance(red, str) else dict(red)
        if not hasattr(self._envs, "set_red"):
            raise UserError(
                "these environments cannot change their attackers: set_red works with ppo on CAGE-2's own batch, not "
                f"with {self.experiment.algorithm} on {self.experiment.env.env} ({self.experiment.env.backend})."
            )
        self._envs.set_red(odds)
        self._red = ",".join(f"{name}:{share!r}" for name, share in odds.items())

    def say(self, text: str) -> None:
        """Show a sentence, and keep it among the run's marks."""
        self._log.say(text)


class Callback:
    """Takes part in a run; override what is of interest. By itself it does nothing.

    All calls come between updates, in the order in which callbacks were given.
    """

    def started(self, run: Training) -> None:
        """Begin: before the first step is collected; of a resumed run, after `restore`."""

    def after_update(self, run: Training) -> None:
        """Look at `run.step` and `run.metrics`; change what may be changed."""

    def after_evaluation(self, run: Training, evaluation: Evaluated) -> None:
        """Take a score during training; there are some if the run has a folder and `evaluate_every` is set."""

    def should_stop(self, run: Training) -> bool:
        """Return whether the run is to end now; asked after each update and each evaluation."""
        return False

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint is to keep of this callback: plain values, as JSON has them."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` returned."""


METHODS = ("started", "after_update", "after_evaluation", "should_stop", "state", "restore")


def find_callbacks(names: Sequence[str], objects: Sequence[Callback] = ()) -> dict[str, Callback]:
    """Return callbacks by their names: those that `module:name` names, made, and then `objects`."""
    found: dict[str, Callback] = {}
    for callback in [*(_made(name) for name in names), *objects]:
        name = type(callback).__name__
        if lacking := [method for method in METHODS if not callable(getattr(callback, method, None))]:
            hint = "Derive it from garrison.runs.Callback."
            raise UserError(f"{name} is no callback: it has no {lacking[0]}.", hint=hint)
        same = sum(each.partition("#")[0] == name for each in found)
        found[f"{name}#{same + 1}" if same else name] = callback
    return found


class CallbackLog(RunLog):
    """Stands between the learner and the run's log, and lets callbacks take part.

    Args:
        callbacks: by name, see `find_callbacks`.
        run: what they are given.
        inner: gets everything else.
    """

    def __init__(self, callbacks: Mapping[str, Callback], run: Training, inner: Follower) -> None:
        self._callbacks, self._run, self._inner = callbacks, run, inner
        self.stopped_by = ""
        """The callback that has ended the run, if one has"""
        if isinstance(inner, Recorder):
            inner.on_evaluation = self._evaluated

    def begin(self, saved: dict[str, Any] | None) -> None:
        """Let callbacks begin, from what a checkpoint kept of them if it is a resumed run."""
        if saved is not None:
            if saved["red"]:
                self._run.set_red(saved["red"])
            if unknown := [name for name in saved["states"] if name not in self._callbacks]:
                self.say(f"the run had callbacks that are not given now: {', '.join(unknown)}.")
            for name, callback in self._callbacks.items():
                if name in saved["states"]:
                    with _blaming(name, "when it was restored"):
                        callback.restore(saved["states"][name])
        for name, callback in self._callbacks.items():
            with _blaming(name, "at the start"):
                callback.started(self._run)

    @property
    def stop(self) -> bool:
        """Whether to end after this update."""
        return bool(self.stopped_by) or self._inner.stop

    @property
    def share(self) -> float | None:
        """As the other log has it."""
        return self._inner.share

    @property
    def action_kinds(self) -> Sequence[str] | None:
        """As the other log has them."""
        return self._inner.action_kinds

    def started(self) -> None:
        """Pass it on."""
        self._inner.started()

    def log(self, step: int, metrics: dict[str, float]) -> None:
        """Log an update; then it is the callbacks' turn."""
        self._inner.log(step, metrics)
        self._run.step, self._run.metrics = step, dict(self._inner.last)
        for name, callback in self._callbacks.items():
            with _blaming(name, f"after the update at step {step:,}"):
                callback.after_update(self._run)
        self._ask()

    def log_agent(self, number: int, step: int, metrics: dict[str, float]) -> None:
        """Pass it on."""
        self._inner.log_agent(number, step, metrics)

    def say(self, text: str) -> None:
        """Pass a sentence on."""
        self._inner.say(text)

    def due_checkpoint(self, step: int) -> bool:
        """Return whether a checkpoint is wanted now."""
        return self._inner.due_checkpoint(step)

    def checkpoint(self, state: dict[str, Any]) -> None:
        """Pass a state on, with that of the callbacks."""
        states = {}
        for name, callback in self._callbacks.items():
            with _blaming(name, "when its state was saved"):
                states[name] = callback.state()
                if not is_plain(states[name]):
                    raise TypeError(f"state() must return plain values, as JSON has them; got {states[name]!r}")
        red = self._run._red
        self._inner.checkpoint({**state, "callbacks": {"red": red, "states": states}})

    def _evaluated(self, values: dict[str, Any], total: float, metrics: dict[str, float]) -> None:
        evaluation = Evaluated(values["state"]["steps"], total, metrics, values)
        for name, callback in self._callbacks.items():
            with _blaming(name, f"after the evaluation at step {evaluation.step:,}"):
                callback.after_evaluation(self._run, evaluation)
        self._ask()

    def _ask(self) -> None:
        for name, callback in self._callbacks.items():
            with _blaming(name, f"when it was asked whether to stop at step {self._run.step:,}"):
                if callback.should_stop(self._run) and not self.stopped_by:
                    self.stopped_by = name


def _made(name: str) -> Callback:
    make = made_by_name(name)
    with _blaming(name, "when it was made"):
        callback: Callback = make()
    return callback


@contextmanager
def _blaming(name: str, when: str) -> Iterator[None]:
    """Say which callback failed, and when."""
    try:
        yield
    except Exception as error:
        what = " ".join(str(error).split())
        raise CallbackFailed(
            f"the callback {name} failed {when} ({type(error).__name__}: {what.rstrip('.')}).",
            details="".join(traceback.format_exception(error)),
        ) from error
