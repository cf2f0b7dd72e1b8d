"""`garrison plot`: figures of a run, or of a search of orders, for papers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from garrison.errors import UserError, foreign
from garrison.system import require


@dataclass(frozen=True)
class Arguments:
    """Draw a run: learning curve, losses, time split and, for CAGE-2, the action mix.

    The folder of garrison workflow search works as well: rewards, compliance and the posterior over the orders.
    """

    run: Annotated[Path, tyro.conf.arg(metavar="RUN")]
    """The run's folder."""
    out: str = ""
    """Folder for the figures; by default plots in the run's own."""
    format: Literal["png", "pdf", "svg"] = "png"
    """File format; PDF and SVG keep their text as text."""
    smooth: int = 10
    """Updates that a point of a curve is the mean of; the light line is the raw curve."""


def main(arguments: list[str]) -> int:
    """Run `garrison plot`."""
    args = tyro.cli(Arguments, prog="garrison plot", args=arguments, config=(tyro.conf.PositionalRequiredArgs,))
    require("matplotlib")
    if args.smooth < 1:
        raise UserError(f"--smooth must be at least 1; got {args.smooth}.")
    for path in draw(args, Path(args.out) if args.out else args.run / "plots"):
        print(path)
    return 0


def draw(args: Arguments, out: Path) -> list[Path]:
    """Draw what the folder holds; return the figures' paths."""
    from garrison.report.search_history import STATE

    if (args.run / STATE).exists():
        from garrison.report.workflow_figures import plot_search
        from garrison.workflow.results import read_search

        with foreign(f"the search in {args.run}"):
            return plot_search(read_search(args.run), out, args.format)
    from garrison.report.figures import plot_run
    from garrison.report.history import RunHistory

    return plot_run(RunHistory.read(args.run), out, args.smooth, args.format)
