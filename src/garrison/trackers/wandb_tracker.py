"""Weights & Biases, online or offline, as its own environment variables say: WANDB_MODE, WANDB_PROJECT, WANDB_DIR..."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from garrison.errors import GarrisonError
from garrison.storage.dotted import flat
from garrison.trackers.guarded import FINISH_SECONDS
from garrison.trackers.tracker import TrackedRun, Tracker

PROJECT = "garrison"
UPLOAD_SECONDS = 0.8 * FINISH_SECONDS  # then wandb gives up by itself, and says how to upload later


class WandbTracker(Tracker):
    """One run of Weights & Biases."""

    def start(self, run: TrackedRun) -> str:
        """Begin a run, or go on with the one of this id."""
        import wandb

        is_online = wandb.setup().settings.mode in ("online", "shared")
        if is_online and not wandb.login(prompt=False):
            raise GarrisonError("nobody is logged in: run wandb login, or set WANDB_MODE=offline")
        self._run = wandb.init(
            id=run.known_as,
            # Without a network there is nothing to ask about the earlier part; what is written has the same id.
            resume="allow" if run.known_as and is_online else None,
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            name=run.name,
            config={**run.config, "versions": run.versions},
            allow_val_change=True,
            dir=os.environ.get("WANDB_DIR", str(run.folder or Path.cwd())),
            reinit="create_new",  # another run of this process may be tracked too
            # It would catch what is printed, and print, where the run's own view is.
            settings=wandb.Settings(console="off", silent=True, finish_timeout=UPLOAD_SECONDS),
        )
        # Steps as a metric of their own: evaluations come at the step of an update, and a resumed run repeats some.
        self._run.define_metric("step", hidden=True)
        self._run.define_metric("*", step_metric="step")
        return str(self._run.id)

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Log a row."""
        self._run.log({"step": step, **metrics})

    def finish(self, summary: Mapping[str, Any], checkpoint: Path | None) -> None:
        """Write the summary, upload the checkpoint if there is one, and end the run."""
        import wandb

        self._run.summary.update(flat(summary))
        if checkpoint is not None:
            artifact = wandb.Artifact(f"{self._run.id}-checkpoint", type="model")
            artifact.add_file(str(checkpoint))
            self._run.log_artifact(artifact)
        self._run.finish(exit_code=0 if summary["status"] == "finished" else 1)
