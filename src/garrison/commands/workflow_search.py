"""`garrison workflow search`: find the order with the best reward among those that are complied with."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

import tyro

from garrison.commands.flags import value_of, with_new_names, without_repeated
from garrison.formatting import clock, short
from garrison.runs.folder import RunFolder
from garrison.runs.interrupts import Interrupts
from garrison.runs.marks import RESUMED, STARTED, add_mark
from garrison.runs.page_rhythm import NoPages, PageRhythm
from garrison.system import require
from garrison.workflow.decisions import GP
from garrison.workflow.settings import SEARCH, SearchExperiment
from garrison.workflow.surrogate import require_sklearn

if TYPE_CHECKING:
    from garrison.workflow.search_log import SearchLog

NOTICE = "stopping at this update; finished orders are kept. Ctrl-C again ends at once"


@dataclass(frozen=True)
class Arguments:
    """The settings of the search, and how to run it."""

    experiment: SearchExperiment = field(default_factory=lambda: SEARCH)
    resume: str = ""
    """Continue the search in this folder; its settings are kept, and flags change them."""
    json: bool = False
    """Print JSON instead of text."""
    quiet: bool = False
    """Show nothing but warnings."""


def main(arguments: list[str]) -> int:
    """Run `garrison workflow search`."""
    require("torch", "yaml")
    args = parse(arguments)
    from garrison.workflow.results import finish
    from garrison.workflow.search import ENDINGS, INTERRUPTED, best_line, run_search
    from garrison.workflow.search_log import SearchLog

    experiment, quiet = args.experiment, args.quiet or args.json
    if args.resume:
        folder = RunFolder.open(Path(args.resume))
    else:
        folder = RunFolder.fresh(experiment.run.out, f"workflow-search-{experiment.search.method}")
    with folder.held(is_new=not args.resume):
        log = SearchLog.load(folder.path) if args.resume else SearchLog(folder.path)
        folder.write_settings(experiment.to_yaml())
        log.save()
        add_mark(folder.path, RESUMED if args.resume else STARTED, len(log.trials), log.seconds)
        pages = pages_of(experiment, log)
        pages.write()
        say: Callable[[str], None] = (lambda text: None) if quiet else partial(print, flush=True)
        say(f"{experiment.describe()}\nfolder: {folder.path}")
        with Interrupts(lambda: print(NOTICE, file=sys.stderr)) as interrupts:
            try:
                ending = run_search(experiment, log, say, interrupts, quiet, pages)
            except BaseException:
                pages.write(is_over=True)
                raise
        results = finish(experiment, log, ending, ENDINGS[ending])
        pages.write(is_over=True)
    if args.json:
        print(results.read_text().rstrip())
    if ending == INTERRUPTED:
        print(f"Continue with: garrison workflow search --resume {folder.path}", file=sys.stderr)
        return interrupts.exit_code
    say(
        f"\n{len(log.trials)} orders, {short(log.episodes)} episodes, {clock(log.seconds)}; {ENDINGS[ending]}.\n"
        f"{best_line(log.trials, experiment)}\nThe search is in {folder.path}."
    )
    return 0


def pages_of(experiment: SearchExperiment, log: "SearchLog") -> PageRhythm:
    """Return what writes the page of a search: it follows from the orders tried, and from how it has ended."""
    from garrison.report.run_state import RUNNING, RunState
    from garrison.report.search_page import write_search_page
    from garrison.report.search_state import ending_of_search
    from garrison.workflow.results import history_of

    if not experiment.run.page:
        return NoPages()

    def write(path: Path, seconds: float | None) -> None:
        state = RunState(RUNNING, "") if seconds is not None else ending_of_search(path)
        write_search_page(history_of(experiment, log), state, time(), seconds)

    return PageRhythm([log.folder], partial(print, file=sys.stderr), write)


def parse(arguments: list[str]) -> Arguments:
    """Return the settings of the search."""
    arguments = with_new_names(arguments, {"--total-episodes": "--budget-episodes"})
    resume = value_of("--resume", arguments)
    base = SearchExperiment.load(RunFolder.open(Path(resume)).config) if resume else SEARCH
    args = tyro.cli(
        Arguments,
        prog="garrison workflow search",
        description=(
            "Search the 120 orders for the one with the best environment reward among those that are complied with.\n\n"
            "Every order is trained to its compliance threshold, or as far as its episodes go, and then measured."
        ),
        default=Arguments(without_repeated(base, arguments), resume=resume or ""),
        args=arguments,
        config=(tyro.conf.OmitArgPrefixes,),
    )
    if args.experiment.search.method == GP:
        require_sklearn()
    return args
