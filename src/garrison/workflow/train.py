"""`garrison workflow train ORDER...`: one network for one order, for several or for all, until it complies."""

import sys
from dataclasses import dataclass, field
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tyro

from garrison.errors import UserError
from garrison.runs.folder import RunFolder
from garrison.runs.interrupts import Interrupts
from garrison.runs.summary import write_summary
from garrison.runs.view import Title
from garrison.system import require
from garrison.text import clock, short
from garrison.workflow.orders import CANONICAL, ORDERS, label, name_of, parse_orders
from garrison.workflow.settings import TRAIN, WorkflowExperiment
from garrison.workflow.view import make_view

EXIT = {"finished": 0, "diverged": 1}


@dataclass(frozen=True)
class Arguments:
    """What can be said on the command line."""

    experiment: WorkflowExperiment = field(default_factory=lambda: TRAIN)
    inherit: str = ""
    """Start from the weights of the nearest order that was trained in this run, search or checkpoint."""
    resume: str = ""
    """Continue the run in this folder; its orders and settings are kept, and flags change the settings."""
    quiet: bool = False
    """Show nothing but warnings."""


def main(arguments: list[str]) -> int:
    """Run `garrison workflow train`."""
    require("torch", "yaml")
    name, args = parse(arguments)
    return train_run(args, name)


def parse(arguments: list[str]) -> tuple[str, Arguments]:
    """Return the run's name and its settings."""
    orders = leading(arguments)
    resume = value_of("--resume", arguments)
    base = TRAIN
    if resume:
        if orders:
            raise UserError(f"--resume continues a run with its own orders; leave out {' '.join(orders)}.")
        base = WorkflowExperiment.load(RunFolder.open(Path(resume)).config)
    elif orders:
        base = TRAIN.of_orders(parse_orders(orders))
    names = "\n".join(f"  {key:<18} {label(order)}" for key, order in CANONICAL.items())
    args = tyro.cli(
        Arguments,
        prog="garrison workflow train ORDER...|all",
        description=(
            "Train one network on one or more orders at once, until its fixes comply.\n\nAn ORDER is a number from 0 "
            f"to 119, five units with commas between them, or a name:\n\n{names}"
        ),
        default=Arguments(base, resume=resume or ""),
        args=arguments[len(orders) :],
        config=(tyro.conf.OmitArgPrefixes,),
    )
    if not args.experiment.workflow.orders:
        raise UserError("say which orders to train: numbers, names, units with commas between them, or all.")
    if args.inherit and args.resume:
        raise UserError("--resume continues with the run's own weights; leave out --inherit.")
    return title_of(args.experiment.workflow.orders), args


def train_run(args: Arguments, name: str) -> int:
    """Train, record and evaluate; return the exit code."""
    from garrison.report.workflow_tables import write_run
    from garrison.workflow.evaluate import score_orders
    from garrison.workflow.inherit import trained_in
    from garrison.workflow.play import NetworkPlayer
    from garrison.workflow.training import resume_values, train_in_folder

    experiment = args.experiment
    if args.resume:
        folder = RunFolder.open(Path(args.resume))
        values: dict[str, Any] | None = resume_values(folder)
    else:
        folder, values = new_folder(experiment.run.out, f"workflow-{name}"), None
    known = None
    if args.inherit:
        if not Path(args.inherit).exists():
            raise UserError(f"there is nothing to inherit in {args.inherit}: it does not exist.")
        known = trained_in(Path(args.inherit))
    view = make_view(Title(f"workflow {name}", details(experiment), str(folder.path), {}), args.quiet)
    with view, Interrupts(lambda: view.say("finishing this update; Ctrl-C again ends at once")) as interrupts:
        outcome = train_in_folder(experiment, folder, name, view, lambda: interrupts.signal is not None, values, known)
    summary = outcome.summary
    _print_end(summary, folder, args.quiet)
    is_kept = outcome.is_kept
    if outcome.status == "finished" and experiment.run.evaluate_episodes:
        scores = score_orders(
            NetworkPlayer(outcome.values, name),
            experiment.env,
            experiment.workflow,
            list(experiment.workflow.orders),
            experiment.run.evaluate_episodes,
            experiment.learner.seed,
        )
        summary["scores"] = [score.to_dict() for score in scores]
        is_kept = write_summary(folder, summary) and is_kept
        if not args.quiet:
            print(_evaluated(scores, experiment.workflow.compliance_threshold))
    write_run(folder, orders_text(experiment.workflow.orders), experiment.to_dict())
    if "compliance" in summary and find_spec("matplotlib") is not None:
        from garrison.report.workflow_figures import plot_training

        plot_training(folder.path, experiment.workflow.compliance_threshold, folder.path / "plots")
    return EXIT.get(outcome.status, interrupts.exit_code) or (0 if is_kept else 1)


def orders_text(orders: tuple[int, ...]) -> str:
    """Return how the training log names a set of orders."""
    return label(orders[0]) if len(orders) == 1 else "all" if len(orders) == len(ORDERS) else f"{len(orders)} orders"


def title_of(orders: tuple[int, ...]) -> str:
    """Return a short name for a set of orders."""
    if len(orders) == len(ORDERS):
        return "all"
    if len(orders) > 1:
        return f"{len(orders)}-orders"
    name = name_of(orders[0])
    return name if name in CANONICAL else f"order-{orders[0]}"


def details(experiment: WorkflowExperiment) -> str:
    """Return one line about a training."""
    env, workflow, run = experiment.env, experiment.workflow, experiment.run
    orders = f"{len(workflow.orders)} orders" if len(workflow.orders) != 1 else label(workflow.orders[0])
    until = f"for {run.duration}" if run.duration else f"{short(workflow.episodes)} episodes at most"
    return (
        f"{orders}; against {env.red}, rules {env.rules}, {env.envs} envs, lambda {workflow.alignment_lambda:g}, "
        f"{until}, seed {experiment.learner.seed}"
    )


def new_folder(out: str, stem: str) -> RunFolder:
    """Return a new run's folder: `out`, or one with a name of its own under runs/."""
    if out:
        return RunFolder.create(Path(out))
    base = Path("runs") / f"{stem}-{datetime.now():%Y%m%d-%H%M%S}"
    number = 1
    while (path := base if number == 1 else base.with_name(f"{base.name}-{number}")).exists():
        number += 1
    return RunFolder.create(path)


def leading(arguments: list[str]) -> list[str]:
    """Return the words before the first flag."""
    flags = [k for k, word in enumerate(arguments) if word.startswith("-") and not word[1:2].isdigit()]
    return arguments[: flags[0]] if flags else arguments


def value_of(flag: str, arguments: list[str]) -> str | None:
    """Return what the command line says for a flag that must be known before the others are read."""
    for k, word in enumerate(arguments):
        if word.startswith(f"{flag}="):
            return word[len(flag) + 1 :]
        if word == flag and k + 1 < len(arguments):
            return arguments[k + 1]
    return None


def _evaluated(scores: list[Any], threshold: float) -> str:
    if len(scores) == 1:
        score = scores[0]
        return (
            f"likeliest actions, {score.episodes} episodes: reward {score.reward:.2f} ± {score.reward_ci95:.2f}, "
            f"compliance {score.compliance:.3f} ± {score.compliance_ci95:.3f}"
        )
    rewards, rates = [s.reward for s in scores], [s.compliance for s in scores]
    return (
        f"likeliest actions, {scores[0].episodes} episodes an order: reward {min(rewards):.2f} to {max(rewards):.2f}, "
        f"compliance {min(rates):.3f} to {max(rates):.3f}, "
        f"{sum(rate >= threshold for rate in rates)} of {len(scores)} orders at {threshold:g} or more"
    )


def _print_end(summary: dict[str, Any], folder: RunFolder, quiet: bool) -> None:
    if summary["status"] == "diverged":
        print(f"garrison workflow: {summary['message']}", file=sys.stderr)
    if summary["status"] == "interrupted":
        print(
            f"Interrupted after {short(summary['episodes'])} episodes; the checkpoint is complete.\n"
            f"Continue with: garrison workflow train --resume {folder.path}",
            file=sys.stderr,
        )
    elif not quiet:
        print(
            f"\nstopped: {summary['stopped_because']}\n{short(summary['episodes'])} episodes in "
            f"{clock(summary['duration_seconds'])}; the run is in {folder.path}"
        )
