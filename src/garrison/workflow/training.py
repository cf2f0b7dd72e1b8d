"""What training on orders adds to a run: inherited weights, compliance in the metrics, and reasons to stop."""

from collections.abc import Sequence
from typing import Any

import torch

from garrison.errors import UserError
from garrison.learn.run import RunLog
from garrison.runs.folder import RunFolder
from garrison.runs.session import Hooks, Start
from garrison.workflow.inherit import Trained, nearest
from garrison.workflow.settings import WorkflowExperiment
from garrison.workflow.stopping import EPISODES, REASONS, Stopper, StopRules
from garrison.workflow.tracking import ComplianceTracker

TIME = "time"
FRESH = "fresh weights"


class WorkflowHooks(Hooks):
    """Follows the compliance of a training and stops it when the rules say so.

    Args:
        experiment: the settings, with the orders.
        rules: when to stop.
        known: trained networks, the nearest of which to inherit from.
        must_inherit: whether it is an error if none of them fits.
    """

    tracker: ComplianceTracker

    def __init__(
        self,
        experiment: WorkflowExperiment,
        rules: StopRules | None = None,
        known: Sequence[Trained] = (),
        must_inherit: bool = False,
    ) -> None:
        self.experiment, self.known, self.must_inherit = experiment, known, must_inherit
        self.stopper = Stopper(rules or experiment.workflow.rules(timed=experiment.run.seconds is not None))
        self.inherited = FRESH

    def start(self, about: dict[str, Any], values: dict[str, Any] | None) -> Start:
        """Find the weights to inherit; a resumed run has its own, and keeps the learning rate it began with."""
        orders = list(self.experiment.workflow.orders)
        found = nearest(orders, self.known, about["policy"]) if values is None else None
        if self.must_inherit and values is None and found is None:
            raise UserError("there is nothing to inherit: no network of this shape was trained on an order there.")
        if values is not None:
            self.inherited = values["inherited"]
        elif found is not None:
            self.inherited = found.to_text(orders)
        about["inherited"] = self.inherited
        config = self.experiment.settings(inherits=self.inherited != FRESH)
        if found is None:
            return Start(config)
        return Start(config, torch.from_numpy(found.weights), f"starting from {self.inherited}")

    def follow(self, envs: Any, log: RunLog, values: dict[str, Any] | None) -> RunLog:
        """Put the tracker between the learner and its log."""
        self.tracker = ComplianceTracker(envs, self.stopper, log, values["state"]["workflow"] if values else None)
        return self.tracker

    def has_stopped(self) -> bool:
        """Return whether one of the rules was met."""
        return self.stopper.reason is not None

    def summary(self, status: str, message: str) -> dict[str, Any]:
        """Return the orders, why it stopped, and the last compliance."""
        is_timed = self.experiment.run.seconds is not None
        reason = self.stopper.reason or (status if status != "finished" else TIME if is_timed else EPISODES)
        return {
            "orders": list(self.experiment.workflow.orders),
            "inherited": self.inherited,
            "episodes": self.tracker.episodes,
            "stopped": reason,
            "stopped_because": REASONS.get(reason, {TIME: "the time is up"}.get(reason, message or reason)),
            **{key.removeprefix("workflow/"): value for key, value in self.tracker.last.items()},
        }


def check_resumable(folder: RunFolder, values: dict[str, Any] | None) -> None:
    """Refuse to continue a run that was not trained on orders."""
    if values is not None and "workflow" not in values["state"]:
        raise UserError(f"{folder.path} is no training on workflows: continue it with garrison train --resume.")
