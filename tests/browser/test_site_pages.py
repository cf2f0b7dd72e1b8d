"""The site of the docs in a browser, opened from the disk: it fits, asks for nothing, and can be searched."""

from pathlib import Path

import pytest

from tests.helpers.browser import Pages, overflow
from tests.helpers.site import build_site

PAGES = ["index.html", "guide.html", "api/cage2.html", "rules.html", "performance.html", "watch.html"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site(tmp_path_factory.mktemp("site"))


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False)])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_window(pages: Pages, site: Path, name: str, width: int, dark: bool) -> None:
    page = pages.open(site / name, within=site, width=width, dark=dark)
    assert overflow(page) <= 0
    assert page.evaluate("document.body.dataset.mdColorScheme") == ("slate" if dark else "default")


def test_the_search_works_without_a_server(pages: Pages, site: Path) -> None:
    page = pages.open(site / "index.html", within=site)
    page.locator(".md-search__input").click()
    page.keyboard.type("autoreset")
    page.locator(".md-search-result__link").first.wait_for()
    assert "vector.html" in " ".join(
        link.get_attribute("href") for link in page.locator(".md-search-result__link").all()
    )
