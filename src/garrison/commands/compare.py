"""`garrison compare RUN RUN...`: runs side by side, as a table and a page."""

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from garrison.commands.flags import value_of
from garrison.errors import UserError
from garrison.report.comparison import facts, tell_apart, to_text
from garrison.report.comparison_page import comparison_page
from garrison.report.history import RunHistory
from garrison.storage.atomic import write_json


@dataclass(frozen=True)
class Output:
    """What is made of the runs."""

    out: str = "comparison"
    """Folder for comparison.html and comparison.json, and for runs that are trained first."""
    smooth: int = 10
    """Updates that a point of a curve is the mean of."""
    json: bool = False
    """Print JSON instead of text."""


@dataclass(frozen=True)
class Arguments(Output):
    """Put runs side by side: a table, and a page with return, speed, losses and time split.

    To train presets or files for equal times first, see garrison race.
    """

    runs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN")] = ()
    """Folders of runs."""


def main(arguments: list[str]) -> int:
    """Run `garrison compare`."""
    if value_of("--duration", arguments) is not None:
        from garrison.commands import race

        print("garrison compare: training first is now called garrison race.", file=sys.stderr)
        return race.main(arguments)
    arguments = without_plots(arguments)
    args = tyro.cli(Arguments, prog="garrison compare", args=arguments)
    if not args.runs:
        raise UserError("name the runs to compare: garrison compare RUN RUN...")
    for name in args.runs:
        if not Path(name).is_dir():
            raise UserError(f"there is no run in {name}.", hint=f"To train first: garrison race {name} --duration 10m.")
    put_side_by_side([Path(name) for name in args.runs], args, shlex.join(["garrison", "compare", *arguments]))
    return 0


def put_side_by_side(paths: Sequence[Path], output: Output, command: str) -> None:
    """Write and print the comparison of these runs; `command` says how it was made."""
    if output.smooth < 1:
        raise UserError(f"--smooth must be at least 1; got {output.smooth}.")
    out = Path(output.out)
    runs = tell_apart([RunHistory.read(path) for path in paths])
    table = [facts(run) for run in runs]
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "comparison.json", table)
    page = comparison_page(runs, table, output.smooth, command).write(out / "comparison.html")
    print(json.dumps(table) if output.json else f"{to_text(runs, table)}\n\n{page}")


def without_plots(arguments: list[str]) -> list[str]:
    """Return the arguments without the flags of the picture that is no longer drawn."""
    for old in [word for word in arguments if word in ("--plots", "--no-plots")]:
        print(f"garrison: {old} does nothing any more: the curves are on the page.", file=sys.stderr)
    return [word for word in arguments if word not in ("--plots", "--no-plots")]
