"""The page of a sweep: what it says, what it links to, and that nothing from outside is markup."""

from html.parser import HTMLParser
from pathlib import Path

from garrison.report.sweep_page import sweep_page, write_sweep_page
from garrison.report.sweep_results import RunResult, SettingResult, SweepResults
from tests.helpers.swept_results import swept_results

HOSTILE = "<img src=x onerror=alert(1)>&`'\""


class Tags(HTMLParser):
    """Takes note of what a page consists of."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_the_page_of_a_grid_has_bands_scores_and_every_run(tmp_path: Path) -> None:
    page = write_sweep_page(swept_results(tmp_path), "finished", 0.0, None).read_text()
    assert page.count('class="band"') == 2 * 4  # for a broad screen and for a phone
    assert "-100.50 ± 6.35" in page  # the mean of -100 and -101: 12.706 errors of 0.5
    assert "garrison train" in page
    assert "best.yaml" in page
    assert "Parallel coordinates" in page
    assert "Importance" not in page
    for number in range(4):
        for seed in (0, 1):
            assert f'href="./runs/{number:04}-seed-{seed}/index.html"' in page
    assert page.count('href="./runs/0003-seed-0/error.txt"') == 1
    assert "<script" not in page


def test_the_page_of_a_search_has_progress_importance_and_pruned_trials(tmp_path: Path) -> None:
    page = sweep_page(swept_results(tmp_path, is_search=True), "running", 0.0, 5.0).html()
    assert "Score of each trial" in page
    assert "fANOVA" in page
    assert "pruned" in page
    assert page.count('class="point doubtful"') == 2
    assert "<script" in page  # it loads itself anew


def test_one_seed_has_curves_without_bands(tmp_path: Path) -> None:
    page = sweep_page(swept_results(tmp_path, seeds=1), "finished", 0.0).html()
    assert 'class="band"' not in page
    assert "interval of the mean over seeds" not in page


def test_nothing_from_outside_is_markup(tmp_path: Path) -> None:
    for is_search in (False, True):
        results = swept_results(tmp_path / str(is_search), HOSTILE, is_search=is_search)
        page = sweep_page(results, "failed", 0.0).html()
        assert "<img" not in page
        assert "&lt;img" in page
        tags = Tags()
        tags.feed(page)
        assert not {"img", "script"} & tags.names
        assert "onerror" not in tags.attributes


def test_a_sweep_that_has_only_begun_has_a_page(tmp_path: Path) -> None:
    run = RunResult("0000-seed-0", 0, tmp_path / "none", "waiting", None)
    results = SweepResults(tmp_path, "mine", "2 seeds", (), (SettingResult(0, {}, "waiting", (run,)),), False, 2)
    assert "0 of 2" in sweep_page(results, "running", 0.0, 5.0).html()
