"""The page of a folder lists every run in it, whatever is left of it."""

import json
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

from garrison.report.run_page import rewrite_run_page
from garrison.report.runs_index import index_page, list_runs, to_text
from garrison.runs import marks
from garrison.storage.lock import only_writer
from tests.helpers.written_runs import official_score, write_run

HOSTILE = "<img src=x onerror=alert(1)>"


def html_of(folder: Path) -> str:
    return index_page(folder, list_runs(folder), datetime(2026, 1, 1), folder).html()


def rows_of(html: str) -> dict[str, list[str]]:
    """Return the cells of each run's row by the run's name."""
    root = ElementTree.fromstring(html.removeprefix("<!DOCTYPE html>\n"))
    table = list(root.iter("table"))[-1]
    rows = [["".join(cell.itertext()) for cell in row.iter("td")] for row in table.iter("tr")]
    return {row[0]: row[1:] for row in rows if row}


def test_every_run_has_a_row_with_its_state_and_score(tmp_path: Path) -> None:
    write_run(tmp_path / "done", **official_score())
    write_run(tmp_path / "deep" / "inside" / "dead", status="")
    alive = write_run(tmp_path / HOSTILE, status="")
    with only_writer(alive, ""):
        rows = rows_of(html_of(tmp_path))
    assert set(rows) == {"done", "deep/inside/dead", HOSTILE}
    state, score, _, last, steps, trained = rows["done"][:6]
    assert (state, score, last, steps, trained) == ("finished", "-123.40 ± 1.50", "-500.00", "20 k", "0:40")
    assert rows["done"][-2:] == ["ppo", "garrison/CAGE2-v0"]
    assert rows["deep/inside/dead"][0] == "killed"
    assert rows[HOSTILE][0] == "running"


def test_names_lead_to_the_runs_pages_where_there_are_some(tmp_path: Path) -> None:
    rewrite_run_page(write_run(tmp_path / "javascript:alert(1)"))
    write_run(tmp_path / "bare")
    html = html_of(tmp_path)
    assert 'href="./javascript%3Aalert%281%29/index.html"' in html
    assert html.count("<a href=") == 1


def test_the_newest_run_is_first_and_what_tells_no_time_is_last(tmp_path: Path) -> None:
    for name, moment in (("old", "2020-01-01T00:00:00+00:00"), ("new", "2025-01-01T00:00:00+00:00"), ("odd", "")):
        path = write_run(tmp_path / name)
        mark = marks.RunMark(marks.STARTED, 0, 0.0, moment)._asdict()
        (path / marks.FILE).write_text(json.dumps(mark) + "\n")
    assert [one.name for one in list_runs(tmp_path)] == ["new", "old", "odd"]


def test_what_is_left_of_an_old_run_is_listed(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    (old / "metrics.jsonl").write_text('{"step": 7, "time/elapsed_time": 60.0}\n')
    damaged = write_run(tmp_path / "damaged")
    (damaged / "summary.json").write_text("{")
    html = html_of(tmp_path)
    assert "is damaged: it is not JSON" in html
    listed = {one.name: one for one in list_runs(tmp_path)}
    assert (listed["old"].state.word, listed["old"].run.steps) == ("unknown", 7)
    assert "old" in to_text(list_runs(tmp_path))


def test_seeds_of_one_setting_and_agents_of_one_run_are_bands(tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        write_run(tmp_path / f"small-{seed}", seed=seed, slope=10.0 + seed, **official_score(-100.0 - seed))
    run = write_run(tmp_path / "jax", steps=5)
    for seed in (4, 5):
        write_run(run / f"seed-{seed}", seed=seed, steps=5)
    html = html_of(tmp_path)
    assert "small (3 seeds)" in html
    assert "-102.00 ± 2.48" in html
    assert "jax (2 seeds)" in html
    # In the table of settings, as a chart for each width, and for the run of several agents in its row.
    assert html.count('<polygon class="band"') == 2 + 2 * 2 + 1
    assert set(rows_of(html)) == {"small-1", "small-2", "small-3", "jax"}


def test_a_search_is_listed_with_the_best_order(tmp_path: Path) -> None:
    path = tmp_path / "search"
    path.mkdir()
    (path / "config.yaml").write_text("{}")
    (path / "search.json").write_text("{}")
    marks.add_mark(path, marks.STARTED, 0, 0.0)
    assert rows_of(html_of(tmp_path))["search"][0] == "killed"
    orders = [{"order": 3, "reward": -9.0, "reward_ci95": 0.5}, {"order": 5, "reward": -1.0, "reward_ci95": 0.5}]
    results = {"ended": "budget", "ended_because": "it is over", "ended_at": marks.now(), "best": 3, "orders": orders}
    (path / "results.json").write_text(json.dumps(results))
    row = rows_of(html_of(tmp_path))["search"]
    assert row[:2] == ["finished", "-9.00 ± 0.50"]
    assert "search of orders" in row
