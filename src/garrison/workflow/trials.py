"""One trial of a search: an order is trained, as a run without a folder, and measured."""

import dataclasses
from time import perf_counter
from typing import Any

import numpy as np

from garrison.errors import GarrisonError
from garrison.runs import session
from garrison.runs.interrupts import Interrupts
from garrison.workflow.decisions import Decision, Trial
from garrison.workflow.inherit import Trained
from garrison.workflow.orders import label
from garrison.workflow.play import NetworkDefender, play
from garrison.workflow.settings import SearchExperiment
from garrison.workflow.stopping import EPISODES, StopRules
from garrison.workflow.training import WorkflowHooks

KEPT = ("format", "algorithm", "steps", "updates", "weights")
"""What is kept of the learner's state: an order is not resumed, only inherited from and played."""


def run_trial(
    experiment: SearchExperiment,
    rules: StopRules,
    decision: Decision,
    known: list[Trained],
    interrupts: Interrupts,
) -> tuple[Trial, dict[str, Any], list[dict[str, float]]] | None:
    """Train and measure one order; None if that was interrupted.

    Returns the trial, the checkpoint's values and the rows of its updates.
    """
    began = perf_counter()
    order, search = decision.order, experiment.search
    # Every trial draws from a seed of its own, so that a search goes on as it would have.
    seed = int(np.random.SeedSequence((experiment.learner.seed, decision.iteration)).generate_state(1)[0])
    trained = dataclasses.replace(
        experiment.of_orders([order]),
        run=dataclasses.replace(experiment.run, duration=""),  # that is the search's
        learner=dataclasses.replace(experiment.learner, seed=seed),
    )
    hooks = WorkflowHooks(trained, rules, known)
    outcome = session.run(trained, f"trial-{decision.iteration + 1}-order-{order}", interrupts=interrupts, hooks=hooks)
    if interrupts.signal is not None:
        return None
    if outcome.status == "diverged":
        raise GarrisonError(f"training on the order {label(order)} diverged: {outcome.message}")
    state = {key: outcome.values["state"][key] for key in KEPT}
    values = {**outcome.values, "iteration": decision.iteration, "state": state}
    score = play(
        NetworkDefender(values, "trial"),
        trained.env,
        trained.workflow,
        order,
        experiment.run.evaluate_episodes or experiment.task.final_episodes,
        experiment.learner.seed,
    )
    trial = Trial(
        decision=decision,
        score=score,
        inherited=hooks.inherited,
        episodes=hooks.tracker.episodes,
        updates=hooks.tracker.updates,
        reason=hooks.stopper.reason or EPISODES,
        observed=search.fixed_episodes or score.compliance >= experiment.workflow.compliance_threshold,
        seconds=round(perf_counter() - began, 3),
    )
    return trial, values, hooks.tracker.rows
