"""Pages are whole, well formed, need nothing from anywhere and cannot be broken by a name."""

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from garrison.report.page import (
    NARROW,
    Bars,
    Cell,
    Figure,
    Level,
    Mark,
    Page,
    Series,
    Tile,
    areas,
    bars,
    heatmap,
    lines,
    scatter,
    sparkline,
    stacked,
)

HOSTILE = "</svg><script>alert('x')</script>\" onload=\"y\" & \x00\x1b\ud800 'é"


def full(name: str) -> Page:
    page = Page(name, name, kind=name).badge(name, "good").tiles([Tile(name, name, name)]).progress(0.5)
    page.table([name], [[Cell(name, link=name, svg=sparkline([1, 2], [0, 1], [2, 3], name=name), badge="bad")]])
    page.section(name, name).heading(name).text(name).note(name).code(name).facts({name: name})
    page.section(name).table([name, "n"], [[name, 1.0], [Cell(name, tip=name, doubtful=True), None]], caption=name)
    page.section(name).table([name], [[name]], folded=name)
    two = [Series(name, [1, 2], [3, 4], [2, 3], [4, 5], [True, False], [name, name]), Series(name, [1], [2])]
    for band in (False, True):
        page.chart(lines(two, x_label=name, y_label=name, band=band), name, name)
    marked = lines(two, marks=[Mark(1.5, name), Mark(2, name, is_tick=True)], levels=[Level(3, name)], name=name)
    page.grid([Figure(marked, name, name, narrow=lines(two, width=NARROW))])
    page.chart(areas([1, 2], {name: [1, 2], name + "2": [3, 0]}, x_label=name, name=name))
    page.chart(scatter(two, x_label=name, y_label=name))
    page.chart(bars([name, "b"], [Bars(name, [1, None], [0.5, None], [2, None]), Bars(name, [2, 3])], y_label=name))
    page.chart(stacked([name, "b"], {name: [1, 2], name + "2": [3, 0]}, x_label=name))
    page.chart(heatmap([name, "b"], [name, "c"], [[1, None], [2, 3]]))
    return page


def document(page: Page) -> ElementTree.Element:
    """Parse as XML, which forgives nothing."""
    return ElementTree.fromstring(page.html().removeprefix("<!DOCTYPE html>\n"))


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


@pytest.mark.parametrize("name", ["plain", HOSTILE])
def test_a_page_with_everything_is_well_formed_and_safe(name: str) -> None:
    root = document(full(name))
    assert {element.tag for element in root.iter()} >= {"svg", "table", "figure", "details", "nav", "polyline"}
    assert not [e for e in root.iter() if e.tag == "script" or any(a.startswith("on") for a in e.attrib)]
    assert full(name).html().encode()  # a lone surrogate would not encode


def test_the_text_says_what_was_given() -> None:
    page = full("<b> & `code`")
    assert document(page).findtext("head/title") == "<b> & `code`"
    assert "&lt;b&gt; &amp; <code>code</code>" in page.html()


def test_nothing_is_fetched() -> None:
    tags = Tags()
    text = full(HOSTILE).html()
    tags.feed(text)
    assert {tag for tag, _ in tags.seen} & {"script", "link", "img", "iframe", "object"} == set()
    references = [a.get(key) or "" for _, a in tags.seen for key in ("href", "src", "xlink:href") if key in a]
    assert references
    assert all(reference.startswith(("#part-", "./")) for reference in references)
    assert not re.search(r"url\(|@import|https?://", text)


def test_anchors_lead_somewhere() -> None:
    root = document(full("x"))
    ids = {e.get("id") for e in root.iter() if e.get("id")}
    assert {e.get("href") for e in root.iter("a")} - {"./x"} == {f"#{i}" for i in ids}


def test_columns_of_numbers_stand_right() -> None:
    root = document(Page("p").table(["who", "rate", "share"], [["a", 1234.5, "~12 %"], ["b", None, Cell("-3")]]))
    assert [h.get("class") for h in root.iter("th")] == [None, "right", "right"]
    assert [c.text for c in root.iter("td")] == ["a", "1.23 k", "~12 %", "b", None, "-3"]


def test_writing_replaces_the_old_page_whole_and_leaves_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "deep" / "index.html"
    assert Page("one").write(path) == path
    Page("two").write(path)
    assert "<title>two</title>" in path.read_text()

    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", fail)  # the last step: all that comes before it must not touch the old page
    with pytest.raises(OSError, match="no space left"):
        Page("three").write(path)
    assert "<title>two</title>" in path.read_text()
    assert [p.name for p in path.parent.iterdir()] == ["index.html"]


def test_a_page_is_a_function_of_what_it_was_given() -> None:
    assert full("x").html() == full("x").html()


def test_a_link_is_a_path_whatever_it_is_called() -> None:
    page = Page("p").table(["a"], [[Cell("x", link="javascript:alert(1)")], [Cell("y", link="a b/\udcff/é#?.html")]])
    links = [e.get("href") for e in document(page).iter("a")]
    assert links == ["./javascript%3Aalert%281%29", "./a%20b/%FF/%C3%A9%23%3F.html"]


def test_only_a_live_page_has_a_script_and_it_says_when_it_was_written() -> None:
    assert "<script" not in full("x").html()
    root = document(full("x").live(1000.0, 5.0, 75.0, f"old {HOSTILE}"))
    assert [root.get(f"data-{name}") for name in ("written", "every", "patience")] == ["1000", "5.0", "75.0"]
    assert len(list(root.iter("script"))) == 1
    note = next(e for e in root.iter("div") if e.get("id") == "old")
    assert note.get("hidden") is not None
    assert "".join(note.itertext()).startswith("old </svg><script>")


def test_a_page_of_runs_is_wide_and_says_what_it_is() -> None:
    root = document(Page("mine", kind="run").badge("finished", "good"))
    body = root.find("body")
    assert body is not None
    assert body.get("class") == "wide"
    assert ["".join(part.itertext()) for part in body.findall("header/*")] == ["Garrison run", "mine finished"]
    assert "<header>" not in Page("p").html()
