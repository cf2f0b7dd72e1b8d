"""One training on one or more orders, in a run's folder: start, follow, stop for a reason, keep what came of it."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from garrison.commands.train import FOREVER
from garrison.errors import UserError
from garrison.learn.nn.description import describe_policy
from garrison.learn.ppo import Diverged, train
from garrison.runs.folder import RunFolder
from garrison.runs.recorder import Limits, Recorder
from garrison.runs.resume import check_fits, layout, prepare_resume
from garrison.runs.summary import summarise, write_summary
from garrison.runs.view import View
from garrison.storage import checkpoint
from garrison.workflow.batch import make_batch, spread
from garrison.workflow.inherit import Trained, nearest
from garrison.workflow.settings import WorkflowExperiment
from garrison.workflow.stopping import EPISODES, REASONS, Stopper
from garrison.workflow.tracking import Tracker

if TYPE_CHECKING:
    from garrison.cage2 import VectorEnv
    from garrison.learn.ppo import Result

TIME = "time"
FRESH = "fresh weights"


@dataclass(frozen=True)
class Outcome:
    """What a training in a folder came to."""

    status: str
    """finished, interrupted or diverged"""
    values: dict[str, Any]
    """The checkpoint's values: the experiment, the policy and its state."""
    summary: dict[str, Any]
    episodes: int
    is_kept: bool
    """Whether the checkpoint and the summary could be written."""


def batch_for(experiment: WorkflowExperiment) -> "VectorEnv":
    """Make the environments to train in: every order has its share of them."""
    orders = list(experiment.workflow.orders)
    if len(orders) > experiment.env.envs:
        raise UserError(
            f"{len(orders)} orders need as many environments; there are {experiment.env.envs}. Say --envs {len(orders)}"
            " or more."
        )
    return make_batch(experiment.env, experiment.workflow, spread(orders, experiment.env.envs))


def describe(experiment: WorkflowExperiment, envs: "VectorEnv") -> dict[str, Any]:
    """Return what a checkpoint says besides the learner's state."""
    return {
        "experiment": experiment.to_dict(),
        "policy": describe_policy(experiment.learner.policy, envs.single_observation_space, envs.single_action_space),
        "layout": layout(envs),
    }


def train_in_folder(
    experiment: WorkflowExperiment,
    folder: RunFolder,
    name: str,
    view: View,
    interrupted: Callable[[], bool],
    values: dict[str, Any] | None = None,
    known: list[Trained] | None = None,
) -> Outcome:
    """Train on the experiment's orders and record it.

    Args:
        experiment: the settings, with the orders.
        folder: where to.
        name: what results call the run.
        view: who shows it.
        interrupted: asked at every update.
        values: the checkpoint to continue from.
        known: what to inherit from; None for fresh weights.
    """
    envs = batch_for(experiment)
    about = describe(experiment, envs)
    orders = list(experiment.workflow.orders)
    inherited = nearest(orders, known, about["policy"]) if known is not None and values is None else None
    if known is not None and values is None and inherited is None:
        raise UserError("there is nothing to inherit: no network of this shape was trained on an order there.")
    if values is not None:
        check_fits(values, about)
        folder.trim_metrics(values["state"]["steps"])
    about["inherited"] = values["inherited"] if values else inherited.to_text(orders) if inherited else FRESH
    folder.write_settings(experiment.to_yaml())
    seconds = experiment.run.seconds
    config = experiment.settings(inherits=about["inherited"] != FRESH)
    stopper = Stopper(experiment.workflow.rules(timed=seconds is not None))
    recorder = Recorder(
        folder,
        Limits(None if seconds else config.steps, seconds, experiment.run.checkpoint_every),
        about,
        interrupted=interrupted,
        show=view.show,
        warn=view.say,
        seconds_before=values["seconds"] if values else 0.0,
        first_step=values["state"]["steps"] if values else 0,
        tensorboard=experiment.run.tensorboard,
    )
    tracker = Tracker(envs, stopper, recorder, values["state"]["workflow"] if values else None)
    if seconds:
        config = dataclasses.replace(config, steps=FOREVER)
    result: Result | None = None
    status, message = "finished", ""
    try:
        state = prepare_resume(values, about, envs, view) if values is not None else None
        weights = None if inherited is None else torch.from_numpy(inherited.weights)
        if inherited is not None:
            view.say(f"starting from {about['inherited']}")
        result = train(config, envs, tracker, state, weights)
    except Diverged as diverged:
        status, message = "diverged", str(diverged)
        state = diverged.state
    except UserError:
        if values is None and not recorder.last:
            recorder.close()
            folder.discard()
        raise
    finally:
        recorder.close()
        envs.close()
    if result is not None:
        state = result.state
    if status == "finished" and stopper.reason is None and interrupted():
        status = "interrupted"
    reason = stopper.reason or (status if status != "finished" else TIME if seconds else EPISODES)
    summary = {
        **summarise(name, experiment, status, message, recorder, result),
        "orders": orders,
        "inherited": about["inherited"],
        "episodes": tracker.episodes,
        "stopped": reason,
        "stopped_because": REASONS.get(reason, {TIME: "the time is up"}.get(reason, message or reason)),
        **{key.removeprefix("workflow/"): value for key, value in tracker.last.items()},
    }
    is_kept = write_summary(folder, summary) and not recorder.unsaved
    return Outcome(status, {**about, "state": state}, summary, tracker.episodes, is_kept)


def resume_values(folder: RunFolder) -> dict[str, Any]:
    """Return the checkpoint to continue a run from."""
    folder.reopen()
    values = checkpoint.load(folder.path)
    checkpoint.require(values, str(folder.checkpoint))
    if "workflow" not in values["state"]:
        raise UserError(f"{folder.path} is no training on workflows: continue it with garrison train --resume.")
    return values
