"""How a caller follows a run: a run folder, a progress bar or a test is a `RunLog`."""

from collections.abc import Sequence
from typing import Any


class RunLog:
    """What a learner tells about a run and asks about it; override what is of interest. By itself it does nothing."""

    @property
    def stop(self) -> bool:
        """Whether to end after this update: an interrupt, or the time is up."""
        return False

    @property
    def action_kinds(self) -> Sequence[str] | None:
        """The name of each action in the metrics `actions/*`, see `garrison.learn.action_mix`; None for its number."""
        return None

    @property
    def share(self) -> float | None:
        """The share of the run that is done, if something better than the number of steps is known, such as a clock."""
        return None

    def started(self) -> None:
        """Take note that the first step has been collected: all is compiled, and workers and actors are there."""

    def log(self, step: int, metrics: dict[str, float]) -> None:
        """Take the metrics of one update, see `garrison.learn.metrics`; `step` counts environment steps."""

    def log_agent(self, number: int, step: int, metrics: dict[str, float]) -> None:
        """Take what an update says of one of several agents that are trained together; `log` then has the mean."""

    def say(self, text: str) -> None:
        """Take a sentence about something that went wrong without ending the run."""

    def due_checkpoint(self, step: int) -> bool:
        """Return whether a checkpoint is wanted now."""
        return False

    def checkpoint(self, state: dict[str, Any]) -> None:
        """Keep a state; nested dicts of tensors and plain values, which `torch.load` reads with `weights_only`."""


def progress(steps: int, total: int, run: RunLog) -> float:
    """Return the share of the run that is done, 0 to 1; schedules follow it."""
    share = run.share
    return min(1.0, steps / total if share is None else share)
