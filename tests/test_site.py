"""The site of the docs: it builds, links lead somewhere, it needs no network, and its API pages are complete."""

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

import garrison
from tests.helpers.site import ROOT, build, build_site

SOURCE = Path(garrison.__file__).parent
STUBS = sorted(SOURCE.rglob("__init__.pyi"))
FOREIGN = {"AutoresetMode": "Gymnasium's"}
"""Public names that are documented elsewhere."""
EMBEDDED = {"benchmarks/index.html", "watch-record.html"}
"""Pages of other makers inside the site, with tests of their own."""


class Found(HTMLParser):
    """The anchors of a page, and what it points at or loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors, self.links, self.loads = set[str](), set[str](), set[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag in ("a", "area") and "href" in values:
            self.links.add(values["href"])
        elif tag == "link" and "href" in values and values.get("rel") not in ("canonical", "prev", "next"):
            self.loads.add(values["href"])
        elif "src" in values:
            self.loads.add(values["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Found]:
    return {str(file.relative_to(site)): Found(file.read_text()) for file in sorted(site.rglob("*.html"))}


def broken(site: Path, pages: dict[str, Found]) -> Iterator[str]:
    for name, page in pages.items():
        if name in EMBEDDED or name == "404.html":  # whose links are absolute, because it is shown anywhere
            continue
        for link in sorted(page.links | page.loads):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (site / name).parent / unquote(parts.path) if parts.path else site / name
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{name} -> {link}: there is no such file"
                continue
            there = str(target.resolve().relative_to(site.resolve()))
            # The theme makes some while it runs, and the pages in frames have fragments of another kind.
            is_ours = there in pages and there not in EMBEDDED and not parts.fragment.startswith("__")
            if is_ours and parts.fragment and unquote(parts.fragment) not in pages[there].anchors:
                yield f"{name} -> {link}: there is no such anchor"


def public(stub: Path) -> Iterator[str]:
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (name.name for name in node.names)


def test_links_and_anchors_of_the_site_exist(site: Path, pages: dict[str, Found]) -> None:
    assert len(pages) > 60
    assert list(broken(site, pages)) == []


def test_the_site_loads_nothing_from_elsewhere(site: Path, pages: dict[str, Found]) -> None:
    assert {link for page in pages.values() for link in page.loads if urlsplit(link).netloc} == set()
    styles = "".join(file.read_text() for file in site.rglob("*.css"))
    assert re.findall(r"(?:@import|url\()[^;)]*//[^;)]*", styles) == []


def test_the_site_has_no_diagram_that_asks_a_cdn_for_its_script() -> None:
    assert [file.name for file in (ROOT / "docs").rglob("*.md") if "```mermaid" in file.read_text()] == []


def test_a_search_index_is_there_for_pages_that_are_opened_from_a_disk(site: Path) -> None:
    assert (site / "search" / "search_index.js").stat().st_size > 100_000
    assert "site/iframe-worker.js" in (site / "index.html").read_text()


def test_pages_of_other_makers_are_shown_in_frames(pages: dict[str, Found]) -> None:
    assert "benchmarks/index.html" in pages["performance.html"].loads
    assert "watch-record.html#t=45" in pages["watch.html"].loads


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.parent.name)
def test_every_public_name_is_on_its_page(stub: Path, pages: dict[str, Found]) -> None:
    package = ".".join(stub.parent.relative_to(SOURCE.parent).parts)
    page = f"api/{stub.parent.name}"
    assert f"{page}.html" in pages, f"write `::: {package}` into docs/{page}.md, and name it in the nav of mkdocs.yml"
    anchors = pages[f"{page}.html"].anchors
    names = set(public(stub)) - set(FOREIGN)
    # A function in a module of the same name is found under both.
    missing = {name for name in names if not {f"{package}.{name}", f"{package}.{name}.{name}"} & anchors}
    assert missing == set()


def entries(nav: object) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
            yield from entries(part)


def test_every_page_is_in_the_nav() -> None:
    """The strict build says so too; this names the file to change."""
    text = (ROOT / "mkdocs.yml").read_text()
    named = set(entries(yaml.safe_load(text[text.index("\nnav:") :])["nav"]))
    docs = {str(file.relative_to(ROOT / "docs")) for file in (ROOT / "docs").rglob("*.md")}
    assert docs - named == set(), "add these pages to the nav of mkdocs.yml"
    assert named - docs == {"index.md", "CHANGELOG.md", "CONTRIBUTING.md"}


def test_a_page_with_a_link_that_leads_nowhere_ends_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Home\n\n[there](#nowhere) and [here](missing.md)\n")
    text = (ROOT / "mkdocs.yml").read_text()
    rules = text[text.index("\nvalidation:") : text.index("\nnav:")]
    (tmp_path / "mkdocs.yml").write_text(f"site_name: a\nstrict: true\n{rules}")
    result = build(tmp_path / "mkdocs.yml", tmp_path / "out")
    assert result.returncode != 0
    assert "missing.md" in result.stderr
    assert "#nowhere" in result.stderr
