"""The page of a run, `RUN/index.html`: how it learns, what it scores, where its time goes, what it was made with."""

from datetime import datetime
from pathlib import Path
from time import time

from garrison.formatting import clock, short
from garrison.report.history import REWARD, SPEED, RunHistory
from garrison.report.page import Cell, Page, Tile
from garrison.report.run_actions import add_actions
from garrison.report.run_charts import add_losses, add_time
from garrison.report.run_facts import agents_of, known_scores, lead, share_done, time_left, title_of
from garrison.report.run_learning import add_learning, last_score
from garrison.report.run_origin import add_notes, add_origin, add_settings
from garrison.report.run_score import add_score
from garrison.report.run_state import RUNNING, RunState, begun, ending_of, is_told, state_of
from garrison.runs.page_rhythm import FILE
from garrison.tasks.cage2 import WATCH

ROWS = 600
"""Of the metrics: more than a chart can show."""
MOMENT = "%Y-%m-%d %H:%M:%S"
FASTEST, SLOWEST = 2.0, 60.0
"""Seconds after which a page loads itself anew."""
PATIENCE = 60.0
FIRST_PATIENCE = 300.0
"""Seconds without news, beyond thrice the usual, after which a run is taken for dead; the first update compiles."""


def write_run_page(path: Path, seconds: float | None) -> Path:
    """Write the page of the run in `path`, for the process that trains it.

    `seconds` tells when it will be written again; None if the run is over.
    """
    run = RunHistory.glance(path, ROWS)
    state = ending_of(run) if seconds is None else RunState(RUNNING, "")
    return run_page(run, state, time(), seconds).write(path / FILE)


def rewrite_run_page(path: Path) -> Path:
    """Write the page of a run that no process trains, such as one of an older version or one that was killed."""
    run = RunHistory.glance(path, ROWS)
    return run_page(run, state_of(run), time()).write(path / FILE)


def run_page(run: RunHistory, state: RunState, now: float, seconds: float | None = None) -> Page:
    """Return the page of a run that is in this state `now`, in seconds since 1970; see `write_run_page`."""
    agents = agents_of(run)
    page = Page(title_of(run), lead(run), kind="run").badge(state.word, state.badge)
    _add_moment(page, run, now, seconds)
    if state.text:
        (page.note if state.badge == "bad" else page.text)(state.text)
    for problem in run.problems:
        page.note(problem)
    if seconds is not None:
        page.progress(share_done(run))
        if is_told(run):
            page.text("The training has ended; its policy is being scored.")
    page.tiles(_tiles(run, is_going=seconds is not None))
    if run.rows:
        add_learning(page, run, agents, known_scores(run))
    else:
        page.text("There is no update yet: workers start and kernels are compiled, the first time for ten seconds.")
    add_score(page, run, agents)
    if (run.path / WATCH).is_file():
        page.section("Watch it play", "The worst, the median and the best of many episodes, step by step.")
        page.facts({"episodes": Cell(WATCH, link=WATCH)})
    add_losses(page, run)
    add_actions(page, run)
    add_time(page, run)
    add_notes(page, run)
    add_settings(page, run)
    add_origin(page, run)
    return page


def _add_moment(page: Page, run: RunHistory, now: float, seconds: float | None) -> None:
    """Say when the page was written; while the run goes on, let it load itself anew."""
    written = f"{datetime.fromtimestamp(now):{MOMENT}}"
    start = begun(run)
    told = f"Written {written}" + (f", begun {start:{MOMENT}}" if start is not None else "")
    if seconds is not None:
        old = (
            f"No news since {written}: the run was stopped, or cannot write its page any more. If it was stopped, go "
            f"on with `garrison train --resume {run.path}`."
        )
        patience = 3 * seconds + (PATIENCE if run.rows else FIRST_PATIENCE)
        page.live(now, min(SLOWEST, max(FASTEST, seconds)), patience, old)
        told += ". It loads itself anew while the run goes on; if it is old, the run was stopped"
    page.remark(f"{told}.")


def _tiles(run: RunHistory, is_going: bool) -> list[Tile]:
    """Return the numbers that are seen first."""
    found = []
    evaluation = run.summary.get("evaluation") or {}
    if run.total is not None and not is_going:
        found.append(Tile(f"{run.total[0]:.2f} ± {run.total[1]:.2f}", "official total", "with 95 % confidence"))
    elif "mean" in evaluation and not is_going:
        reach = f" ± {evaluation['ci95']:.2f}" if "ci95" in evaluation else ""
        found.append(Tile(f"{evaluation['mean']:.2f}{reach}", "mean return, scored", "with 95 % confidence"))
    elif (quick := last_score(run)) is not None:
        found.append(Tile(quick, "newest score", "the newest score during training"))
    _, _, returns = run.series(REWARD)
    if len(returns):
        found.append(Tile(f"{returns[-1]:.2f}", "last return", "mean of the last 100 episodes of training"))
        found.append(Tile(f"{returns.max():.2f}", "best return", "the best such mean so far"))
    found.append(Tile(short(run.steps), "steps", f"{run.steps:,} environment steps in {run.updates:,} updates"))
    _, _, speeds = run.series(SPEED)
    if len(speeds):
        middle = sorted(speeds.tolist())[len(speeds) // 2]
        found.append(Tile(short(middle), "steps per second", "the median update, learning included"))
    found.append(Tile(clock(run.seconds), "trained", "compiling and starting up are not counted"))
    if is_going and (left := time_left(run)) is not None:
        found.append(Tile(clock(left), "left", "at the speed so far"))
    return found
