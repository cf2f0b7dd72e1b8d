"""`garrison compare RUN RUN...`: runs side by side, as a table, a page and a picture."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from garrison.commands.flags import value_of
from garrison.errors import UserError
from garrison.report import figure_style as style
from garrison.report.comparison import draw, facts, label, to_text
from garrison.report.comparison_page import comparison_page
from garrison.report.history import Run
from garrison.storage.atomic import write_json
from garrison.system import require


@dataclass(frozen=True)
class Output:
    """What is made of the runs."""

    out: str = "comparison"
    """Folder for comparison.json, comparison.html and comparison.png, and for runs that are trained first."""
    smooth: int = 10
    """Updates that a point of a curve is the mean of."""
    plots: bool = True
    """Whether to draw comparison.png, which needs Matplotlib."""
    json: bool = False
    """Print the table as JSON instead."""


@dataclass(frozen=True)
class Arguments(Output):
    """Put runs side by side: a table, and a picture of return, speed, losses and time split.

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
    args = tyro.cli(Arguments, prog="garrison compare", args=arguments)
    if not args.runs:
        raise UserError("name the runs to compare: garrison compare RUN RUN...")
    for name in args.runs:
        if not Path(name).is_dir():
            raise UserError(f"there is no run in {name}.", hint=f"To train first: garrison race {name} --duration 10m.")
    put_side_by_side([Path(name) for name in args.runs], args, " ".join(["garrison compare", *arguments]))
    return 0


def put_side_by_side(paths: Sequence[Path], output: Output, command: str) -> None:
    """Write and print the comparison of these runs; `command` says how it was made."""
    if output.plots:
        require("matplotlib")
    out = Path(output.out)
    runs = label([Run.read(path) for path in paths])
    table = [facts(run) for run in runs]
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "comparison.json", table)
    written = [comparison_page(runs, table, output.smooth, command).write(out / "comparison.html")]
    print(json.dumps(table) if output.json else to_text(table))
    if output.plots:
        written.append(style.save(draw(runs, output.smooth), out / "comparison.png"))
    if not output.json:
        print("", *written, sep="\n")
