"""The page of a folder of runs: a row for each with its state, score and curve; runs of one setting as a band."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from os.path import relpath
from pathlib import Path
from typing import Any

import numpy as np

from garrison.formatting import clock, plural, short
from garrison.report.curves import band, curve, window_for
from garrison.report.history import REWARD, RunHistory, spans_magnitudes
from garrison.report.page import BROAD, NARROW, Cell, Chart, Page, Series, Tile, lines, sparkline
from garrison.report.run_facts import agents_of, is_agent
from garrison.report.run_groups import RunGroup, grouped, score_of, written_score
from garrison.report.run_state import RUNNING, RunState, begun, is_run, state_of
from garrison.report.search_state import is_search, read_results, state_of_search
from garrison.runs.page_rhythm import FILE

DEPTH = 4  # folders below the one that is listed
ROWS = 200  # of a run's metrics
MOMENT = "%Y-%m-%d %H:%M"
COLUMNS = ["run", "state", "score", "return", "last return", "steps", "trained", "begun", "learner", "environment"]


@dataclass(frozen=True)
class Listed:
    """A run as the list knows it."""

    run: RunHistory
    state: RunState
    name: str
    """Its folder, as seen from the one that is listed."""
    agents: tuple[RunHistory, ...] = ()
    results: dict[str, Any] | None = None
    """Of a search of orders; None for a run."""

    @property
    def score(self) -> tuple[float, float | None] | None:
        """Its score at the end, with its reach; of a search, the best reward that counts."""
        if self.results is None:
            return score_of(self.run)
        best = [order for order in self.results.get("orders", []) if order["order"] == self.results.get("best")]
        return (best[0]["reward"], best[0]["reward_ci95"]) if best else None


def list_runs(folder: Path) -> list[Listed]:
    """Return every run below a folder, the newest first; those of which nothing tells when they began stand last."""
    found = []
    for path in _find(folder, DEPTH):
        run = RunHistory.glance(path, ROWS)
        name = path.relative_to(folder).as_posix() if path != folder else path.resolve().name
        if is_search(path):
            found.append(Listed(run, state_of_search(path), name, results=read_results(path)))
        else:
            found.append(Listed(run, state_of(run), name, tuple(agents_of(run))))
    oldest = datetime.fromtimestamp(0).astimezone()
    return sorted(found, key=lambda one: begun(one.run) or oldest, reverse=True)


def _find(folder: Path, depth: int) -> Iterator[Path]:
    """Give the folders that hold runs; the agents of a run are a part of it."""
    if is_run(folder):
        yield folder
    if depth:
        for path in sorted(folder.iterdir()):
            if path.is_dir() and not path.is_symlink() and not is_agent(path):
                yield from _find(path, depth - 1)


def index_page(folder: Path, listed: Sequence[Listed], now: datetime, base: Path) -> Page:
    """Return the page of a folder of runs, which will lie in the folder `base`."""
    page = Page(folder.resolve().name or str(folder), plural(len(listed), "run"), kind="runs")
    page.remark(
        f"Written {now:%Y-%m-%d %H:%M:%S} by `garrison runs {folder}`; a run's own page is newer while it goes."
    )
    states = [one.state.word for one in listed]
    page.tiles([Tile(str(states.count(word)), word) for word in dict.fromkeys(sorted(states, key=_rank))])
    groups = _groups(listed)
    if groups:
        told = "Mean over runs that differ only in their seed, with its 95 % interval."
        page.section("Several seeds of one setting", told)
        page.table(["setting", "runs", "score", "return"], [_group_row(group) for group in groups])
        for group in groups:
            _add_band(page, group)
    page.section("Runs" if groups else "All runs")
    page.table(COLUMNS, [_row(one, base) for one in listed])
    problems = [[one.name, problem] for one in listed for problem in one.run.problems]
    if problems:
        page.section("What could not be read").table(["run", "why"], problems)
    return page


def _rank(word: str) -> tuple[bool, bool, str]:
    return word != RUNNING, word != "finished", word


def _groups(listed: Sequence[Listed]) -> list[RunGroup]:
    """Return the settings with more than one run, and the runs with more than one agent."""
    alone = [one.run for one in listed if not one.agents and one.run.rows]
    found = [group for group in grouped(alone) if group.is_several]
    return found + [RunGroup(f"{one.name} ({len(one.agents)} seeds)", one.agents) for one in listed if one.agents]


def _group_row(group: RunGroup) -> list[object]:
    return [group.name, len(group.runs), written_score(group.score), Cell("", svg=_spark(group.name, group.runs))]


def _add_band(page: Page, group: RunGroup) -> None:
    drawn = band(group.name, group.runs, REWARD, window_for(group.runs[0], REWARD))
    if drawn is None:
        return
    values = [y for y in (*drawn.y, *drawn.low, *drawn.high) if y is not None]
    costs = spans_magnitudes(np.array(values, np.float64))

    def draw(width: float) -> Chart:
        return lines(
            [drawn],
            x_label="environment steps",
            costs=costs,
            band=True,
            width=width,
            height=260,
            own_ticks=False,
            name=f"mean return of {group.name}",
        )

    told = "Mean return with its 95 % interval over seeds, as far as all have come."
    page.chart(draw(BROAD), group.name, told, draw(NARROW))


def _row(one: Listed, base: Path) -> list[object]:
    run, summary = one.run, one.run.summary
    _, _, returns = run.series(REWARD)
    start = begun(run)
    link = Path(relpath(run.path / FILE, base)).as_posix() if (run.path / FILE).is_file() else ""
    learner = summary.get("training_mode") or run.settings.get("learner")
    return [
        Cell(one.name, link=link),
        Cell(one.state.word, one.state.text, badge=one.state.badge),
        written_score(one.score),
        Cell("", svg=_spark(one.name, one.agents or (run,))),
        f"{returns[-1]:.2f}" if len(returns) else None,
        short(run.steps) if run.rows else None,
        clock(run.seconds) if run.rows else None,
        Cell(f"{start:{MOMENT}}" if start is not None else "", whole=True),
        Cell(str(learner or "") if one.results is None else "search of orders", whole=True),
        Cell(str(summary.get("env") or run.settings.get("env.env") or ""), whole=True),
    ]


def _spark(name: str, runs: Sequence[RunHistory]) -> str:
    """Return the learning curve of a run, or the band of several, as small as a word."""
    first = runs[0]
    drawn: Series | None = band(name, runs, REWARD, window_for(first, REWARD))
    drawn = drawn or curve(first, REWARD, window_for(first, REWARD))
    if drawn is None:
        return ""
    values, low, high = (np.array(part, np.float64) for part in (drawn.y, drawn.low, drawn.high))
    if spans_magnitudes(np.concatenate((values, low, high))):
        values, low, high = (-np.log(-part) for part in (values, low, high))
    return sparkline(values.tolist(), low.tolist(), high.tolist(), name=f"return of {name}")


def to_text(listed: Sequence[Listed]) -> str:
    """Return the list as lines for a terminal."""
    header = ["run", "state", "steps", "score", "last return", "trained", "begun"]
    rows = [header]
    for one in listed:
        _, _, returns = one.run.series(REWARD)
        start = begun(one.run)
        rows.append(
            [
                one.name,
                one.state.word,
                short(one.run.steps) if one.run.rows else "-",
                written_score(one.score) or "-",
                f"{returns[-1]:.2f}" if len(returns) else "-",
                clock(one.run.seconds) if one.run.rows else "-",
                f"{start:{MOMENT}}" if start is not None else "-",
            ]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
