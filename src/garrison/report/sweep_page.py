"""The page of a sweep, `SWEEP/index.html`: what was found, learning curves as bands over seeds, and every setting."""

from collections.abc import Sequence
from datetime import datetime
from os.path import relpath
from pathlib import Path
from typing import Any

import numpy as np

from garrison.formatting import clock, plural
from garrison.report.curves import band, window_for
from garrison.report.history import REWARD, RunHistory, spans_magnitudes
from garrison.report.page import (
    BROAD,
    NARROW,
    Bars,
    Cell,
    Chart,
    Coordinate,
    Figure,
    Page,
    Series,
    Tile,
    bars,
    lines,
    parallel,
    scatter,
)
from garrison.report.run_groups import written_score
from garrison.report.run_page import FIRST_PATIENCE, MOMENT, SLOWEST
from garrison.report.run_state import BADGES, RUNNING
from garrison.report.sweep_results import FAILED, FINISHED, PRUNED, RunResult, SettingResult, SweepResults
from garrison.runs.page_rhythm import FILE

FEW = 20  # rows of a table that is not folded
CURVES = 8
"""Settings whose learning curves are drawn: more cannot be told apart."""
TOP_SHARE = 0.1
"""Of the settings that stand out among all lines."""
STATE_BADGES = {**BADGES, PRUNED: "plain", "waiting": "plain", "stopped": "plain"}


def sweep_page(results: SweepResults, word: str, now: float, seconds: float | None = None) -> Page:
    """Return the page of a sweep in the state `word`; `seconds` until it is written again, None: never."""
    page = Page(results.name, results.what, kind="sweep").badge(word, STATE_BADGES.get(word, "bad"))
    written = f"{datetime.fromtimestamp(now):{MOMENT}}"
    told = f"Written {written}"
    if seconds is not None:
        old = f"No news since {written}: if the sweep was stopped, go on with `{_command(results)}`."
        page.live(now, min(SLOWEST, max(2.0, seconds)), 3 * seconds + FIRST_PATIENCE, old)
        told += ". It loads itself anew while the sweep goes on"
    page.remark(f"{told}.")
    if seconds is not None and not results.is_search:
        page.progress(sum(run.state == FINISHED for run in results.runs) / max(1, results.total))
    page.tiles(_tiles(results))
    _add_failures(page, results)
    _add_best(page, results)
    _add_curves(page, results)
    if results.is_search:
        _add_search(page, results)
    _add_varied(page, results)
    _add_tables(page, results)
    page.section("Go on", "A sweep that was stopped keeps every run; the same command goes on, and so does:")
    page.code(_command(results))
    return page


def write_sweep_page(results: SweepResults, word: str, now: float, seconds: float | None) -> Path:
    """Write the page into the folder of the sweep."""
    return sweep_page(results, word, now, seconds).write(results.path / FILE)


def _command(results: SweepResults) -> str:
    return f"garrison sweep {results.path}"


def _tiles(results: SweepResults) -> list[Tile]:
    states = [run.state for run in results.runs]
    tiles = []
    if (best := results.best) is not None:
        tiles.append(Tile(written_score(best.score) or "", "best score", "mean over seeds, with 95 % confidence"))
    tiles.append(Tile(f"{states.count(FINISHED)} of {results.total}", "runs finished"))
    known = [PRUNED, RUNNING, FAILED, "diverged", "stopped"]
    tiles += [Tile(str(states.count(word)), word) for word in known if word in states]
    spent = sum(run.history.seconds for run in results.runs if run.history is not None)
    return [*tiles, Tile(clock(spent), "trained in all", "the sum over all runs")]


def _add_failures(page: Page, results: SweepResults) -> None:
    for setting in results.settings:
        if setting.state == FAILED and setting.why and not any(run.state == FAILED for run in setting.runs):
            page.note(f"Setting {setting.number} failed: {setting.why}")
    if results.failed:
        page.note(f"{plural(len(results.failed), 'run')} failed; the others are not touched by that.")
        rows = [[_link(run, results), run.message, _error(run, results)] for run in results.failed]
        page.table(["run", "why", "details"], rows)


def _error(run: RunResult, results: SweepResults) -> Cell | str:
    file = run.path / "error.txt"
    return Cell("error.txt", link=_from(file, results)) if file.is_file() else ""


def _add_best(page: Page, results: SweepResults) -> None:
    if (best := results.best) is None:
        return
    page.section("Best settings", f"Setting {best.number}; `best.yaml` has all of its settings, to train from:")
    if best.values:
        page.facts({name: _written(value) for name, value in best.values.items()})
    page.code(f"garrison train {results.path / 'best.yaml'}")


def _add_curves(page: Page, results: SweepResults) -> None:
    chosen = [each for each in results.ranked if _histories(each)][:CURVES]
    if not chosen:
        return
    several = any(len(_histories(each)) > 1 for each in chosen)
    told = "Mean return of training over environment steps."
    told += " The band is the 95 % interval of the mean over seeds, by Student's t." if several else ""
    told += f" The best {CURVES} of {len(results.settings)} settings." if len(results.settings) > CURVES else ""
    page.section("Learning")
    page.chart(_curves(results, chosen, BROAD), "Return", told, _curves(results, chosen, NARROW))


def _histories(setting: SettingResult) -> list[RunHistory]:
    found = [run.history for run in setting.runs if run.history is not None]
    return [history for history in found if len(history.series(REWARD)[2])]


def _curves(results: SweepResults, chosen: Sequence[SettingResult], width: float) -> Chart:
    drawn: list[Series] = []
    for setting in chosen:
        runs = _histories(setting)
        name = _title(setting, results)
        found = band(name, runs, REWARD, window_for(runs[0], REWARD))
        if found is not None:
            drawn.append(Series(name, found.x, found.y, found.low, found.high, marked=False))
    values = np.array([y for one in drawn for y in one.y], np.float64)
    return lines(
        drawn,
        x_label="steps",
        y_label="return",
        costs=spans_magnitudes(values),
        band=True,
        height=360 if width == BROAD else 300,
        width=width,
        own_ticks=False,
        name="mean return of each setting over steps",
    )


def _add_search(page: Page, results: SweepResults) -> None:
    page.section("Search")
    told = "Hollow points were pruned: the newest score that they had."
    page.chart(_progress(results, BROAD), "Score of each trial, and the best", told, _progress(results, NARROW))
    if results.importance:
        names = list(results.importance)
        shares = [100 * results.importance[name] for name in names]
        told = "How much of the scores' variance each setting explains, in % (fANOVA)."
        chart = bars(names, [Bars("share", shares)], y_label="%", height=240, width=NARROW, name="importance")
        page.grid([Figure(chart, "Importance", told)])


def _progress(results: SweepResults, width: float) -> Chart:
    x, y, doubtful, tips, best = [], [], [], [], []
    top: float | None = None
    for setting in results.settings:
        score = setting.score.mean if setting.score is not None else setting.reported
        before = top
        if setting.score is not None:
            top = max(setting.score.mean, setting.score.mean if top is None else top)
        if top is not None:  # a step
            best += [(float(setting.number), top if before is None else before), (float(setting.number), top)]
        if score is not None:
            x.append(float(setting.number))
            y.append(score)
            doubtful.append(setting.score is None)
            tips.append(f"{_title(setting, results)}: {score:.2f}")
    points = Series("a trial", x, y, doubtful=doubtful, tips=tips, joined=False)
    line = Series("best so far", [at for at, _ in best], [value for _, value in best], marked=False)
    return lines(
        [line, points],
        x_label="trial",
        y_label="score",
        costs=spans_magnitudes(np.array(y, np.float64)),
        height=340 if width == BROAD else 280,
        width=width,
        own_ticks=False,
        name="score of each trial",
    )


def _add_varied(page: Page, results: SweepResults) -> None:
    scored = [each for each in results.settings if each.score is not None]
    if not results.names or len(scored) < 2:
        return
    page.section("Settings and scores")
    ranked = [each.number for each in results.ranked]
    top = set(ranked[: max(1, round(TOP_SHARE * len(scored)))])
    axes = [
        Coordinate(name, [_place(each.values.get(name)) for each in scored], _is_log(results, name))
        for name in results.names
    ]
    axes.append(Coordinate("score", [each.score.mean if each.score is not None else None for each in scored]))
    tips = [f"{_title(each, results)}: {written_score(each.score)}" for each in scored]
    chart = parallel(axes, tips, [each.number in top for each in scored], name="settings and score of each choice")
    page.chart(chart, "Parallel coordinates", "A line for each setting that was trained to its end.")
    page.grid([figure for name in results.names if (figure := _slice(results, scored, name)) is not None])


def _slice(results: SweepResults, scored: Sequence[SettingResult], name: str) -> Figure | None:
    """Return the scores over one setting that is a number."""
    places = [each.values.get(name) for each in scored]
    if not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in places):
        return None
    x = [float(value) for value in places if value is not None]
    y = [each.score.mean for each in scored if each.score is not None]
    reach = [each.score.reach if np.isfinite(each.score.reach) else 0.0 for each in scored if each.score is not None]
    series = Series(
        "setting",
        x,
        y,
        [value - more for value, more in zip(y, reach, strict=True)],
        [value + more for value, more in zip(y, reach, strict=True)],
        tips=[f"{_title(each, results)}: {written_score(each.score)}" for each in scored],
    )
    chart = scatter(
        [series],
        x_label=name,
        y_label="score",
        log_x=_is_log(results, name) and min(x) > 0,
        height=280,
        width=NARROW,
        name=f"score over {name}",
    )
    return Figure(chart, name.rpartition(".")[2].replace("_", " ").capitalize(), "With 95 % intervals.")


def _is_log(results: SweepResults, name: str) -> bool:
    if results.is_search:
        return name in results.logarithmic
    values = [each.values.get(name) for each in results.settings]
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    return len(numbers) == len(values) and min(numbers) > 0 and max(numbers) / min(numbers) > 5


def _add_tables(page: Page, results: SweepResults) -> None:
    page.section("All settings", "The best score first; means over seeds with their 95 % intervals.")
    header = ["setting", *results.names, "state", "seeds", "score"]
    rows: list[list[object]] = []
    for setting in results.ranked:
        done = sum(run.score is not None for run in setting.runs)
        values = [_written(setting.values.get(name)) for name in results.names]
        state = Cell(setting.state, setting.why, badge=STATE_BADGES.get(setting.state, "bad"))
        seeds, score = f"{done} of {len(setting.runs)}", written_score(setting.score)
        rows.append([str(setting.number), *values, state, seeds, score])
    page.table(header, rows, folded=plural(len(rows), "setting") if len(rows) > FEW else "")
    runs = [_run_row(run, results) for run in results.runs if run.path.is_dir()]
    if runs:
        page.section("Runs", "Each is an ordinary run, with its own page; `table.csv` has them all.")
        folded = plural(len(runs), "run") if len(runs) > FEW else ""
        page.table(["run", "state", "seed", "score", "last return"], runs, folded=folded)


def _run_row(run: RunResult, results: SweepResults) -> list[object]:
    last = run.last_return
    return [
        _link(run, results),
        Cell(run.state, run.message, badge=STATE_BADGES.get(run.state, "bad")),
        str(run.seed),
        written_score(run.score),
        f"{last:.2f}" if last is not None else None,
    ]


def _link(run: RunResult, results: SweepResults) -> Cell:
    page = run.path / FILE
    return Cell(run.name, link=_from(page, results) if page.is_file() else "", whole=True)


def _from(file: Path, results: SweepResults) -> str:
    return Path(relpath(file, results.path)).as_posix()


def _title(setting: SettingResult, results: SweepResults) -> str:
    values = [f"{name.rpartition('.')[2]} {_written(setting.values.get(name))}" for name in results.names]
    return ", ".join(values) or results.name


def _place(value: Any) -> float | str | None:
    """Return where a value stands on an axis: numbers by their size, all others by their names."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    return None if value is None else _written(value)


def _written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
