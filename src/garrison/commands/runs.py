"""`garrison runs [FOLDER]`: the runs in a folder as a list and as a page."""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import time
from typing import Annotated

import tyro

from garrison.errors import UserError
from garrison.report.run_page import rewrite_run_page
from garrison.report.run_state import RUNNING, begun
from garrison.report.runs_index import Listed, index_page, list_runs, to_text
from garrison.runs.page_rhythm import FILE
from garrison.sweeps.sweep_plan import FILE as PLAN


@dataclass(frozen=True)
class Arguments:
    """List the runs in a folder: which are alive, what they scored and how they learned; also as a page."""

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")] = Path("runs")
    """Where the runs are, also in folders of folders."""
    out: str = ""
    """The page; by default index.html in the folder."""
    pages: bool = False
    """Write the page of each run first that no process trains: of older versions, and of runs that were killed."""
    json: bool = False
    """Print JSON instead of text."""


def main(arguments: list[str]) -> int:
    """Run `garrison runs`."""
    args = tyro.cli(Arguments, prog="garrison runs", args=arguments)
    if not args.folder.is_dir():
        raise UserError(f"there is no folder {args.folder}.", hint="Name the folder of runs: garrison runs FOLDER.")
    listed = list_runs(args.folder)
    if not listed:
        raise UserError(f"there is no run in {args.folder}.")
    if args.pages:
        for one in listed:
            if one.state.word != RUNNING:
                rewrite(one)
    out = Path(args.out) if args.out else args.folder / FILE
    is_sweep = (args.folder / PLAN).is_file()
    if out == args.folder / FILE and (is_sweep or any(one.run.path == args.folder for one in listed)):
        what = "a sweep" if is_sweep else "a run"
        raise UserError(
            f"{args.folder} is {what}: its page is {out}.", hint="Name the folder around it, or --out FILE."
        )
    page = index_page(args.folder, listed, datetime.now(), out.parent).write(out)
    print(json.dumps([facts(one) for one in listed], indent=2) if args.json else f"{to_text(listed)}\n\n{page}")
    return 0


def rewrite(one: Listed) -> None:
    """Write the page of a run, or of a search that has results."""
    if one.results is None:
        rewrite_run_page(one.run.path)
    elif one.results:
        from garrison.report.search_page import write_search_page
        from garrison.workflow.results import read_search

        write_search_page(read_search(one.run.path), one.state, time(), None)


def facts(one: Listed) -> dict[str, object]:
    """Return what JSON says of a run."""
    start, (score, reach) = begun(one.run), one.score or (None, None)
    return {
        "run": one.name,
        "state": one.state.word,
        "steps": one.run.steps,
        "seconds": one.run.seconds,
        "score": score,
        "ci95": reach,
        "begun": start.isoformat() if start is not None else None,
    }
