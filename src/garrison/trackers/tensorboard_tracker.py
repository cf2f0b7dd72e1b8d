"""TensorBoard: events in the run's own folder."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from garrison.errors import GarrisonError
from garrison.storage.dotted import flat
from garrison.system import missing
from garrison.trackers.tracker import TrackedRun, Tracker, numbers


class TensorBoardTracker(Tracker):
    """Writes `events.out.tfevents*`."""

    _step = 0

    def start(self, run: TrackedRun) -> None:
        """Open a new file of events; of a resumed run, what an earlier one says about later steps is hidden."""
        if said := missing("tensorboard"):
            raise GarrisonError(f"no events are written: {said}")
        from torch.utils.tensorboard import SummaryWriter

        purge = {"purge_step": run.first_step + 1} if run.first_step else {}
        self._writer: Any = SummaryWriter(str(run.folder), **purge)
        self._writer.add_text("config", _table(run.config), run.first_step)
        self._writer.add_text("versions", _table(run.versions), run.first_step)

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Add a point to each curve."""
        self._step = step
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)

    def finish(self, summary: Mapping[str, Any], checkpoint: Path | None) -> None:
        """Write the summary, and its numbers as the last points of curves of their own."""
        self._writer.add_text("summary", _table(summary), self._step)
        for name, value in numbers(flat(summary)).items():
            self._writer.add_scalar(f"summary/{name}", value, self._step)
        self._writer.close()


def _table(values: Mapping[str, Any]) -> str:
    """Return nested values as Markdown, which TensorBoard shows."""
    rows = [f"| {name} | `{json.dumps(value)}` |" for name, value in flat(values).items()]
    return "\n".join(["| name | value |", "|---|---|", *rows])
