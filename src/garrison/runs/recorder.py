"""What a learner hands its progress to when there is a folder: writes metrics and checkpoints."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from garrison.errors import UserError
from garrison.runs import marks
from garrison.runs.folder import RunFolder
from garrison.runs.follower import Follower, Limits
from garrison.runs.page_rhythm import NoPages, PageRhythm
from garrison.runs.starvation import StarvationWatch
from garrison.runs.view import View
from garrison.storage import checkpoint
from garrison.storage.schema import is_number
from garrison.trackers.together import NO_TRACKERS, Trackers


class Recorder(Follower):
    """Writes a run's folder while it goes.

    Args:
        folder: where to.
        limits: when to stop and to save.
        about: what every checkpoint says besides the learner's state: the experiment and the policy's description.
        view: shows each line of metrics, and says what went wrong without stopping the run.
        interrupted: asked at every update.
        evaluate: returns the total that a checkpoint's values score, and metrics to log; None if there is no score.
        resumed: the values of the checkpoint that the run continues from.
        trackers: are told every line of metrics too.
        starvation: notices threads without cores.
        action_kinds: the names of actions in the metrics.
        pages: writes the run's page when it is time.
    """

    def __init__(
        self,
        folder: RunFolder,
        limits: Limits,
        about: dict[str, Any],
        view: View,
        interrupted: Callable[[], bool] = lambda: False,
        evaluate: Callable[[dict[str, Any]], tuple[float, dict[str, float]] | None] | None = None,
        resumed: dict[str, Any] | None = None,
        trackers: Trackers = NO_TRACKERS,
        starvation: StarvationWatch | None = None,
        action_kinds: Sequence[str] | None = None,
        pages: PageRhythm | None = None,
    ) -> None:
        super().__init__(
            limits, view, interrupted, resumed, starvation=starvation, action_kinds=action_kinds, trackers=trackers
        )
        self.folder, self.about, self._evaluate = folder, about, evaluate
        self._saved_at = self._now()
        self._evaluated_at = self.first_step
        self.best_total = best_total(folder) if resumed else -float("inf")
        self.unsaved: str | None = None
        self._file: BinaryIO | None = folder.metrics.open("ab", buffering=0)
        self._pages = pages or NoPages()
        self.on_evaluation: Callable[[dict[str, Any], float, dict[str, float]], None] = lambda values, total, row: None
        """Is told every score during training: the checkpoint's values, its total, its metrics"""
        self._mark(marks.RESUMED if resumed else marks.STARTED, self.first_step)

    def log(self, step: int, metrics: dict[str, float]) -> None:
        """Write and show the metrics of one update."""
        self._write(self.add(step, metrics))
        self.show()
        self._pages.look()

    def say(self, text: str) -> None:
        """Pass on what went wrong without ending the run, and keep it."""
        super().say(text)
        self._mark(marks.SAID, self._step, text)

    def due_checkpoint(self, step: int) -> bool:
        """Return whether a checkpoint or an evaluation is due."""
        return self._now() - self._saved_at >= self.limits.checkpoint_every or self._due_evaluation(step)

    def checkpoint(self, state: dict[str, Any]) -> None:
        """Put a new checkpoint in the place of the last one; if that fails, the last one stays and the run goes on."""
        values = {**self.about, "seconds": self.seconds, "state": state}
        self._saved_at = self._now()
        if self._save(self.folder.checkpoint, values):
            self.saved_step = state["steps"]
            self._mark(marks.SAVED, state["steps"])
        if self._evaluate is not None and self._due_evaluation(state["steps"]):
            self._evaluated_at = state["steps"]
            if (scored := self._evaluate(values)) is None:
                return
            total, metrics = scored
            self._write({"step": state["steps"], "time/elapsed_time": round(self.seconds, 3), **metrics})
            if total > self.best_total and self._save(self.folder.best, {**values, "total": total}):
                self.best_total = total
                self._mark(marks.BEST, state["steps"], f"{total:.2f}")
            self._pages.write()
            self.on_evaluation(values, total, metrics)

    def discard(self) -> None:
        """Remove what has been written, so that the folder can be used again."""
        self.folder.discard()

    def close(self) -> None:
        """Close the files."""
        if self._file is not None:
            self._file.close()

    def _due_evaluation(self, step: int) -> bool:
        every = self.limits.evaluate_every
        return bool(every) and self._evaluate is not None and step // every > self._evaluated_at // every

    def _save(self, path: Path, values: dict[str, Any]) -> bool:
        try:
            checkpoint.save(path, values)
        except OSError as error:
            kept = "there is none yet" if self.saved_step is None else f"the one of step {self.saved_step:,} is kept"
            self.unsaved = f"the checkpoint of step {values['state']['steps']:,} could not be written ({reason(error)})"
            self.say(f"{self.unsaved}; {kept}.")
            return False
        if path == self.folder.checkpoint:
            self.unsaved = None
        return True

    def _mark(self, what: str, step: int, text: str = "") -> None:
        marks.add_mark(self.folder.path, what, step, self.seconds, text)

    def _write(self, row: dict[str, float]) -> None:
        if self._file is not None:
            try:
                self._file.write(json.dumps(row).encode() + b"\n")
            except OSError as error:
                self.say(f"metrics are no longer written ({reason(error)}); training goes on.")
                self._file = None
        self.track(row)


def best_total(folder: RunFolder) -> float:
    """Return what the best checkpoint of an earlier part of the run scored; less than anything if none tells."""
    try:
        total: Any = checkpoint.load(folder.best).get("total")
    except UserError:
        return -float("inf")
    return float(total) if is_number(total) else -float("inf")


def reason(error: OSError) -> str:
    """Return the system's word for an error, such as `No space left on device`."""
    return os.strerror(error.errno) if error.errno else str(error)
