"""The search among orders: decide, train, measure, keep, until the budget, the time or the orders are used up."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from garrison.errors import GarrisonError
from garrison.runs import session
from garrison.runs.folder import RunFolder
from garrison.runs.interrupts import Interrupts
from garrison.runs.page_rhythm import NoPages, PageRhythm
from garrison.runs.resume import resume_values
from garrison.runs.view import Title
from garrison.workflow import trials
from garrison.workflow.compliance_view import make_compliance_view
from garrison.workflow.decisions import Trial, best_of, decide
from garrison.workflow.inherit import BASE, Trained, trained_in
from garrison.workflow.orders import ORDERS, label
from garrison.workflow.search_log import SearchLog
from garrison.workflow.settings import SearchExperiment, WorkflowExperiment
from garrison.workflow.training import WorkflowHooks, check_resumable

BUDGET, TIME, TRIED, INTERRUPTED = "budget", "time", "tried", "interrupted"
ENDINGS = {
    BUDGET: "the episodes are used up",
    TIME: "the time is up",
    TRIED: "every order was tried",
    INTERRUPTED: "it was interrupted",
}


def run_search(
    experiment: SearchExperiment,
    log: SearchLog,
    say: Callable[[str], None],
    interrupts: Interrupts,
    quiet: bool,
    pages: PageRhythm | None = None,
) -> str:
    """Try orders until one of `ENDINGS`, which is returned; `log` keeps each trial as it ends."""
    pages = pages or NoPages()
    search = experiment.search
    before, began = log.seconds, perf_counter()
    if search.base_episodes:
        log.base_episodes = train_base(experiment, log.folder / BASE, interrupts, quiet)
    known = trained_in(log.folder)
    while interrupts.signal is None:
        log.seconds = before + perf_counter() - began
        decision = decide(
            search.method, log.trials, experiment.learner.seed, search.beta, search.initial, search.revisit
        )
        over = ending_of(experiment, log.episodes, log.seconds)
        if over or decision is None:
            return over or TRIED
        done = trials.run_trial(experiment, experiment.rules(log.episodes), decision, known, interrupts)
        if done is None:
            break
        trial, values, rows = done
        log.seconds = before + perf_counter() - began
        log.add(trial, values, rows)
        known = [*known, Trained.of(values, str(log.order_file(trial)))]
        say(lines_of(trial))
        pages.look()
    return INTERRUPTED


def ending_of(experiment: SearchExperiment, episodes: int, seconds: float) -> str | None:
    """Return why the search is over before the next order, None if it goes on."""
    budget = experiment.search.budget
    if budget is not None and budget - episodes < experiment.workflow.needed_episodes:
        return BUDGET
    limit = experiment.run.seconds
    return TIME if limit is not None and seconds >= limit else None


def train_base(experiment: SearchExperiment, path: Path, interrupts: Interrupts, quiet: bool) -> int:
    """Train one network on all orders, or go on with it; return the episodes that it took."""
    folder = RunFolder(path)
    if folder.read_summary().get("status") == "finished":
        return int(folder.read_summary()["episodes"])
    values = resume_values(folder) if folder.checkpoint.exists() else None
    check_resumable(folder, values)
    if values is None and path.exists():
        folder.discard()
    episodes = experiment.search.base_episodes
    base = WorkflowExperiment(
        env=experiment.env,
        run=dataclasses.replace(experiment.run, duration="", out="", evaluate_episodes=0),  # the orders are scored
        learner=experiment.learner,
        workflow=dataclasses.replace(
            experiment.workflow, episodes=episodes, min_episodes=episodes, orders=tuple(range(len(ORDERS)))
        ),
    )
    view = make_compliance_view(Title(BASE, base.describe(), str(path), {}), quiet)
    outcome = session.run(base, BASE, folder, view, interrupts, values, WorkflowHooks(base))
    if outcome.status == "diverged":
        raise GarrisonError(f"the base diverged: {outcome.message}")
    return int(outcome.summary["episodes"])


def lines_of(trial: Trial) -> str:
    """Return two lines about a trial, which a terminal of 80 columns does not break."""
    decision, score = trial.decision, trial.score
    chosen = decision.chosen
    why = (
        decision.how if chosen is None else f"ucb {chosen.ucb:.2f} = {chosen.mean:.2f} + {chosen.ucb - chosen.mean:.2f}"
    )
    return (
        f"{decision.iteration + 1:3}  {label(trial.order):50}  reward {score.reward:.2f} ± {score.reward_ci95:.2f}\n"
        f"     compliance {score.compliance:.3f}{' ' if trial.observed else '!'} "
        f"{trial.episodes} episodes, {trial.reason}; {why}"
    )


def best_line(trials: list[Trial], experiment: SearchExperiment) -> str:
    """Return what was found."""
    best = best_of(trials)
    threshold = experiment.workflow.compliance_threshold
    if best is None:
        return f"No order reached the compliance {threshold:g}: try more --episodes or another threshold."
    score = best.score
    return (
        f"best: {label(best.order)} (order {best.order})\n"
        f"      reward {score.reward:.2f} ± {score.reward_ci95:.2f}, compliance {score.compliance:.3f}; "
        f"{sum(t.observed for t in trials)} of {len(trials)} orders count"
    )
