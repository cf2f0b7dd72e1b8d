"""The pages of runs, folders of runs, comparisons and searches in a browser: light, dark, on a phone, live."""

import time
from pathlib import Path
from typing import Any

import pytest

from garrison import cli
from garrison.report.history import RunHistory
from garrison.report.run_page import rewrite_run_page, run_page, write_run_page
from garrison.report.run_state import RUNNING, RunState
from garrison.report.sweep_page import write_sweep_page
from tests.helpers.browser import Pages, outside, overflow, unnamed
from tests.helpers.swept_results import swept_results
from tests.helpers.written_runs import official_score, write_run
from tests.helpers.written_searches import write_search_folder

HOSTILE = "<img src=x onerror=document.title='owned'>"
SIZES = [(390, False), (390, True), (1280, False), (1280, True), (1920, False)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every kind of page."""
    folder = tmp_path_factory.mktemp("pages") / "runs"
    for seed in (1, 2, 3):
        rewrite_run_page(write_run(folder / f"small-{seed}", seed=seed, slope=10.0 + seed, **official_score()))
    hostile = write_run(folder / HOSTILE, seed=9, steps=77, status="failed", message=HOSTILE, env=HOSTILE)
    rewrite_run_page(hostile)
    search = write_search_folder(folder / "search")
    swept = [swept_results(folder.parent / f"sweep-{k}", HOSTILE, is_search=bool(k)) for k in (0, 1)]
    grid, tried = (write_sweep_page(results, "finished", 0.0, None) for results in swept)
    assert cli.main(["runs", str(folder), "--pages"]) == 0
    runs = [str(folder / f"small-{seed}") for seed in (1, 2, 3)]
    assert cli.main(["compare", *runs, str(hostile), "--out", str(folder.parent / "cmp")]) == 0
    return {
        "run": folder / "small-1" / "index.html",
        "hostile": hostile / "index.html",
        "index": folder / "index.html",
        "comparison": folder.parent / "cmp" / "comparison.html",
        "search": search / "index.html",
        "grid": grid,
        "tried": tried,
    }


@pytest.mark.parametrize(("width", "dark"), SIZES)
@pytest.mark.parametrize("kind", ["run", "hostile", "index", "comparison", "search", "grid", "tried"])
def test_a_page_fits_its_window_and_names_everything(
    pages: Pages, made: dict[str, Path], kind: str, width: int, dark: bool
) -> None:
    page = pages.open(made[kind], width=width, dark=dark)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert overflow(page) <= 0
    assert outside(page) == []
    assert unnamed(page) == []
    assert page.evaluate("[...document.querySelectorAll('svg')].filter((s) => !s.querySelector('title')).length") == 0
    assert page.title() != "owned"
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(20, 24, 28)") == dark


def test_text_can_be_read_in_charts_on_a_phone(pages: Pages, made: dict[str, Path]) -> None:
    page = pages.open(made["run"], width=390)
    sizes = page.evaluate(
        """() => [...document.querySelectorAll("svg text")].filter((text) => text.getClientRects().length)
            .map((text) => text.getBoundingClientRect().height)"""
    )
    assert len(sizes) > 50
    assert min(sizes) > 10


def test_a_chart_is_shown_once_at_every_width(pages: Pages, made: dict[str, Path]) -> None:
    for width in (390, 1280):
        page = pages.open(made["run"], width=width)
        named = page.locator("svg", has=page.locator("title", has_text="return of small-1"))
        assert [named.nth(k).is_visible() for k in range(2)] == [width > 680, width <= 680]


def test_a_run_with_a_hostile_name_shows_it(pages: Pages, made: dict[str, Path]) -> None:
    page = pages.open(made["hostile"])
    assert HOSTILE in page.locator("h1").inner_text()
    assert page.locator("img").count() == 0
    listed = pages.open(made["index"])
    assert listed.get_by_role("link", name=HOSTILE).count() == 1


def test_a_live_page_loads_itself_anew_and_keeps_its_place_until_the_run_has_ended(
    pages: Pages, tmp_path: Path
) -> None:
    run = write_run(tmp_path / "live", status="", updates=10)
    write_run_page(run, 2.0)
    page = pages.open(run / "index.html")
    page.locator("summary").first.click()
    # To the very end, where there is no place unless what was opened is opened again.
    place = page.evaluate("window.scrollTo(0, 1e6); window.isOld = true; scrollY")
    write_run_page(run, 2.0)
    page.wait_for_function("place => !window.isOld && scrollY === place", arg=place)
    assert page.locator("details").first.evaluate("(each) => each.open")
    assert page.locator(".badge").inner_text() == "running"
    (run / "summary.json").write_text('{"status": "finished"}')
    write_run_page(run, None)
    page.wait_for_function("document.querySelector('.badge').textContent === 'finished'")
    assert page.locator("script").count() == 0  # so nothing loads it any more


def test_a_page_that_gets_no_news_says_so_and_stops(pages: Pages, tmp_path: Path) -> None:
    run = write_run(tmp_path / "dead", status="")
    history = RunHistory.glance(run, 100)
    old = run_page(history, RunState(RUNNING, ""), time.time() - 3600, 2.0).write(run / "index.html")
    page = pages.open(old)
    assert page.locator("#old").is_hidden()
    page.evaluate("window.isOld = true")
    page.locator("#old").wait_for(state="visible")
    assert "No news since" in page.locator("#old").inner_text()
    assert page.locator(".badge").inner_text() == "no news"
    assert page.evaluate("window.isOld")  # it was not loaded again


def links(page: Any) -> list[str]:
    """Return where the links of a page lead."""
    found: list[str] = page.evaluate("[...document.querySelectorAll('a')].map((each) => each.href)")
    return found


def test_links_lead_to_files_that_are_there(pages: Pages, made: dict[str, Path]) -> None:
    from urllib.parse import unquote, urlparse

    for kind in ("run", "index", "search"):
        for link in links(pages.open(made[kind])):
            assert Path(unquote(urlparse(link).path)).exists(), link
