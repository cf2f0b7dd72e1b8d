"""`garrison workflow train ORDER...`: one network for one order, for several or for all, until it complies."""

import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tyro

from garrison.commands.flags import leading, value_of, without_repeated
from garrison.errors import UserError
from garrison.formatting import clock, short
from garrison.runs.folder import RunFolder
from garrison.runs.view import Title
from garrison.system import require
from garrison.workflow.compliance_view import make_compliance_view
from garrison.workflow.orders import CANONICAL, ORDERS, label, name_of, parse_orders
from garrison.workflow.settings import TRAIN, WorkflowExperiment


@dataclass(frozen=True)
class Arguments:
    """The settings of the training, and how to run it."""

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
    from garrison.report.workflow_tables import write_run
    from garrison.runs import session
    from garrison.runs.resume import open_folder
    from garrison.workflow.inherit import trained_in
    from garrison.workflow.training import WorkflowHooks, check_resumable

    experiment = args.experiment
    with open_folder(experiment.run.out, f"workflow-{name}", args.resume) as (folder, values):
        check_resumable(folder, values)
        if args.inherit and not Path(args.inherit).exists():
            raise UserError(f"there is nothing to inherit in {args.inherit}: it does not exist.")
        known = trained_in(Path(args.inherit)) if args.inherit else []
        hooks = WorkflowHooks(experiment, known=known, must_inherit=bool(args.inherit))
        view = make_compliance_view(Title(f"workflow {name}", experiment.describe(), str(folder.path), {}), args.quiet)
        outcome = session.run(experiment, name, folder, view, values=values, hooks=hooks)
        print_end(outcome.summary, folder, args.quiet)
        score = session.score(outcome)
        if score is not None and not args.quiet:
            print(score.text)
        write_run(folder, orders_text(experiment.workflow.orders), experiment.to_dict())
        if "compliance" in outcome.summary and find_spec("matplotlib") is not None:
            from garrison.report.workflow_figures import plot_training

            plot_training(folder.path, experiment.workflow.compliance_threshold, folder.path / "plots")
    if outcome.unsaved:
        print(f"garrison workflow: {outcome.unsaved}.", file=sys.stderr)
    return outcome.exit_code


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
        default=Arguments(without_repeated(base, arguments), resume=resume or ""),
        args=arguments[len(orders) :],
        config=(tyro.conf.OmitArgPrefixes,),
    )
    if not args.experiment.workflow.orders:
        raise UserError("say which orders to train: numbers, names, units with commas between them, or all.")
    if args.inherit and args.resume:
        raise UserError("--resume continues with the run's own weights; leave out --inherit.")
    return title_of(args.experiment.workflow.orders), args


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


def print_end(summary: dict[str, Any], folder: RunFolder, quiet: bool) -> None:
    """Print how it ended and how to go on."""
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
