"""MLflow: a server, a database or a folder, as its own environment variable MLFLOW_TRACKING_URI says."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from time import monotonic, time
from typing import Any

from garrison.storage.dotted import flat
from garrison.trackers.tracker import TrackedRun, Tracker, numbers

EXPERIMENT = "garrison"
MOST_METRICS = 1000  # of one request
MOST_PARAMETERS = 100  # likewise
LONGEST_VALUE = 6000  # characters of a parameter
FLUSH_SECONDS = 5.0
"""Between two requests, at most: updates may come faster than a server takes them one by one."""


class MlflowTracker(Tracker):
    """One run of MLflow."""

    def start(self, run: TrackedRun) -> str:
        """Create a run, or go on with the one of this id."""
        from mlflow import MlflowClient

        for library in ("mlflow", "alembic"):  # they would write where the run's own view is
            logging.getLogger(library).setLevel(logging.WARNING)
        self._client = MlflowClient()
        self._waiting: list[Any] = []
        self._flushed = monotonic()
        if run.known_as is None:
            name = os.environ.get("MLFLOW_EXPERIMENT_NAME", EXPERIMENT)
            found = self._client.get_experiment_by_name(name)
            experiment = found.experiment_id if found is not None else self._client.create_experiment(name)
            self._id: str = self._client.create_run(experiment, run_name=run.name).info.run_id
        else:
            self._id = run.known_as
            self._client.update_run(self._id, status="RUNNING")
        self._log_settings(flat({**run.config, "versions": run.versions}))
        return self._id

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Keep a row until there are enough for a request."""
        from mlflow.entities import Metric

        now = int(1000 * time())
        self._waiting += [Metric(name, float(value), now, step) for name, value in metrics.items()]
        if len(self._waiting) >= MOST_METRICS or monotonic() - self._flushed >= FLUSH_SECONDS:
            self._flush()

    def finish(self, summary: Mapping[str, Any], checkpoint: Path | None) -> None:
        """Log the numbers of the summary, keep all of it and the checkpoint as artefacts, and end the run."""
        step = max((metric.step for metric in self._waiting), default=int(summary.get("total_timesteps", 0)))
        self.log(step, {f"summary.{name}": value for name, value in numbers(flat(summary)).items()})
        self._flush()
        self._client.log_dict(self._id, dict(summary), "summary.json")
        if checkpoint is not None:
            self._client.log_artifact(self._id, str(checkpoint))
        self._client.set_terminated(self._id, "FINISHED" if summary["status"] == "finished" else "KILLED")

    def _log_settings(self, settings: Mapping[str, Any]) -> None:
        """Log parameters; MLflow lets none change, so what a resumed run has changed becomes a tag."""
        from mlflow.entities import Param, RunTag

        texts = {name: str(value)[:LONGEST_VALUE] for name, value in settings.items()}
        known = self._client.get_run(self._id).data.params
        new = [Param(name, text) for name, text in texts.items() if name not in known]
        tags = [RunTag(f"resumed.{name}", text) for name, text in texts.items() if known.get(name, text) != text]
        for begin in range(0, len(new), MOST_PARAMETERS):
            self._client.log_batch(self._id, params=new[begin : begin + MOST_PARAMETERS])
        if tags:
            self._client.log_batch(self._id, tags=tags)

    def _flush(self) -> None:
        for begin in range(0, len(self._waiting), MOST_METRICS):
            self._client.log_batch(self._id, metrics=self._waiting[begin : begin + MOST_METRICS])
        self._waiting, self._flushed = [], monotonic()
