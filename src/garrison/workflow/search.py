"""`garrison workflow search`: try orders, train each, and find the one with the best reward that is complied with."""

import dataclasses
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter

import tyro

from garrison.errors import UserError
from garrison.runs.folder import RunFolder
from garrison.runs.interrupts import Interrupts
from garrison.runs.view import Title
from garrison.system import require
from garrison.text import clock, short
from garrison.workflow.decisions import GP, Trial, best_of, decide
from garrison.workflow.orders import ORDERS, label
from garrison.workflow.settings import SEARCH, SearchExperiment, WorkflowExperiment
from garrison.workflow.surrogate import require_sklearn
from garrison.workflow.train import details as base_details
from garrison.workflow.train import new_folder, value_of
from garrison.workflow.view import make_view

BASE = "base"
BUDGET, TIME, TRIED, INTERRUPTED = "budget", "time", "tried", "interrupted"
ENDINGS = {
    BUDGET: "the episodes are used up",
    TIME: "the time is up",
    TRIED: "every order was tried",
    INTERRUPTED: "it was interrupted",
}


@dataclass(frozen=True)
class Arguments:
    """What can be said on the command line."""

    experiment: SearchExperiment = field(default_factory=lambda: SEARCH)
    resume: str = ""
    """Continue the search in this folder; its settings are kept, and flags change them."""
    json: str = ""
    """Write the results to this file too."""
    quiet: bool = False
    """Show nothing but warnings."""


def main(arguments: list[str]) -> int:
    """Run `garrison workflow search`."""
    require("torch", "yaml")
    resume = value_of("--resume", arguments)
    base = SearchExperiment.load(RunFolder.open(Path(resume)).config) if resume else SEARCH
    args = tyro.cli(
        Arguments,
        prog="garrison workflow search",
        description=(
            "Search the 120 orders for the one with the best environment reward among those that are complied with.\n\n"
            "Every order is trained to its compliance threshold, or as far as its episodes go, and then measured."
        ),
        default=Arguments(base, resume=resume or ""),
        args=arguments,
        config=(tyro.conf.OmitArgPrefixes,),
    )
    if args.experiment.search.method == GP:
        require_sklearn()
    if args.json and not Path(args.json).parent.is_dir():
        raise UserError(f"cannot write {args.json}: there is no folder {Path(args.json).parent}.")
    return search_run(args)


def search_run(args: Arguments) -> int:
    """Search, and leave results behind; return the exit code."""
    from garrison.workflow.inherit import Trained, trained_in
    from garrison.workflow.results import finish
    from garrison.workflow.trials import Book, run_trial

    experiment, search = args.experiment, args.experiment.search
    if args.resume:
        folder = RunFolder.open(Path(args.resume))
        book = Book.load(folder.path)
    else:
        folder = new_folder(experiment.run.out, f"workflow-search-{search.method}")
        book = Book(folder.path)
    folder.write_settings(experiment.to_yaml())
    book.save()
    say: Callable[[str], None] = (lambda text: None) if args.quiet else partial(print, flush=True)
    say(f"{details(experiment)}\nfolder: {folder.path}")
    before, began = book.seconds, perf_counter()
    ending = INTERRUPTED
    notice = "stopping at this update; finished orders are kept. Ctrl-C again ends at once"
    with Interrupts(lambda: print(notice, file=sys.stderr)) as interrupts:

        def interrupted() -> bool:
            return interrupts.signal is not None

        if search.base_episodes:
            book.base_episodes = _train_base(experiment, folder.path / BASE, args.quiet, interrupted)
        known = trained_in(folder.path)
        while not interrupted():
            book.seconds = before + perf_counter() - began
            decision = decide(
                search.method, book.trials, experiment.learner.seed, search.beta, search.initial, search.revisit
            )
            over = ending_of(experiment, book.episodes, book.seconds)
            if over or decision is None:
                ending = over or TRIED
                break
            done = run_trial(experiment, experiment.rules(book.episodes), decision, known, interrupted)
            if done is None:
                break
            trial, values, rows = done
            book.seconds = before + perf_counter() - began
            book.add(trial, values, rows)
            known = [*known, Trained.of(values, str(book.order_file(trial)))]
            say(line_of(trial))
    results = finish(experiment, book, ending, ENDINGS[ending])
    if args.json:
        shutil.copyfile(results, args.json)
    if ending == INTERRUPTED:
        print(f"Continue with: garrison workflow search --resume {folder.path}", file=sys.stderr)
        return interrupts.exit_code
    say(
        f"\n{len(book.trials)} orders, {short(book.episodes)} episodes, {clock(book.seconds)}; {ENDINGS[ending]}.\n"
        f"{best_line(book.trials, experiment)}\nThe search is in {folder.path}."
    )
    return 0


def ending_of(experiment: SearchExperiment, episodes: int, seconds: float) -> str | None:
    """Return why the search is over before the next order, None if it goes on."""
    budget = experiment.search.budget
    if budget is not None and budget - episodes < max(1, experiment.workflow.min_episodes):
        return BUDGET
    limit = experiment.run.seconds
    return TIME if limit is not None and seconds >= limit else None


def details(experiment: SearchExperiment) -> str:
    """Return one line about a search."""
    env, workflow, search = experiment.env, experiment.workflow, experiment.search
    total = f"{short(search.budget)} episodes in all" if search.budget else "until every order is tried"
    start = f"a base of {short(search.base_episodes)} episodes" if search.base_episodes else "the nearest trained order"
    goal = "whatever its compliance" if search.fixed_episodes else f"compliance {workflow.compliance_threshold:g}"
    return (
        f"search by {search.method} over {len(ORDERS)} orders: against {env.red}, rules {env.rules}, {goal}, at most "
        f"{short(workflow.episodes)} episodes an order starting from {start}, {total}, seed {experiment.learner.seed}"
    )


def line_of(trial: Trial) -> str:
    """Return one line about a trial."""
    decision, score = trial.decision, trial.score
    chosen = decision.chosen
    why = (
        decision.how if chosen is None else f"ucb {chosen.ucb:.2f} = {chosen.mean:.2f} + {chosen.ucb - chosen.mean:.2f}"
    )
    return (
        f"{decision.iteration + 1:3}  {label(trial.order):50}  {why:28}  reward {score.reward:7.2f} ± "
        f"{score.reward_ci95:.2f}  compliance {score.compliance:.3f}{' ' if trial.observed else '!'} "
        f"{trial.episodes} episodes, {trial.reason}"
    )


def best_line(trials: list[Trial], experiment: SearchExperiment) -> str:
    """Return what was found."""
    best = best_of(trials)
    threshold = experiment.workflow.compliance_threshold
    if best is None:
        return f"No order reached the compliance {threshold:g}: try more --episodes or another threshold."
    score = best.score
    return (
        f"best: {label(best.order)} (order {best.order}), reward {score.reward:.2f} ± {score.reward_ci95:.2f}, "
        f"compliance {score.compliance:.3f}; {sum(t.observed for t in trials)} of {len(trials)} orders count"
    )


def _train_base(experiment: SearchExperiment, path: Path, quiet: bool, interrupted: Callable[[], bool]) -> int:
    """Train one network on all orders, or go on with it; return the episodes that it took."""
    from garrison.workflow.training import resume_values, train_in_folder

    folder = RunFolder(path)
    if folder.read_summary().get("status") == "finished":
        return int(folder.read_summary()["episodes"])
    values = resume_values(folder) if folder.checkpoint.exists() else None
    if values is None and path.exists():
        folder.discard()
    episodes = experiment.search.base_episodes
    base = WorkflowExperiment(
        env=experiment.env,
        run=dataclasses.replace(experiment.run, duration="", out=""),
        learner=experiment.learner,
        workflow=dataclasses.replace(
            experiment.workflow, episodes=episodes, min_episodes=episodes, orders=tuple(range(len(ORDERS)))
        ),
    )
    view = make_view(Title("base", base_details(base), str(path), {}), quiet)
    with view:
        outcome = train_in_folder(base, folder, "base", view, interrupted, values)
    if outcome.status == "diverged":
        raise UserError(f"the base diverged: {outcome.summary['message']}")
    return outcome.episodes
