"""The page as a file: what it holds, what may run in it, and that nothing from outside becomes markup."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from garrison.errors import UserError
from garrison.viewer import page
from garrison.viewer.bundle import script, style

HOSTILE = "</script><img src=x onerror=alert(1)>\u2028&amp;"


def small(name: str = "record", **more: Any) -> dict[str, Any]:
    return {"agent": {"name": name}, "red": "meander", "seed": 7, "total": -10.4, **more}


def one(episode: dict[str, Any], title: str = "A title") -> dict[str, Any]:
    return {"title": title, "episodes": [episode], "pair": None}


class Parts(HTMLParser):
    """The elements of a page, and the text inside those that have only text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.inside.setdefault(self.elements[-1][0] if self.elements else "", []).append(data)


def scripts(text: str) -> list[str]:
    return re.findall(r"<script[^>]*>(.*?)</script>", text, flags=re.S)


def test_the_data_is_in_the_page_once_and_whole() -> None:
    data = one(small(HOSTILE))
    embedded, _ = scripts(page(data))
    assert json.loads(embedded) == data
    assert not set("<>&\u2028") & set(embedded)


def test_text_from_outside_is_no_markup() -> None:
    text = page(one(small(HOSTILE), title=HOSTILE))
    assert "<img" not in text
    assert "onerror=alert(1)&gt;" in text  # it is there, as text
    tags = {tag for tag, _ in Parts(text).elements}
    assert tags == {"html", "head", "meta", "title", "link", "style", "body", "noscript", "p", "div", "script"}


def test_no_element_has_a_handler_or_an_address() -> None:
    for tag, attributes in Parts(page(one(small()))).elements:
        assert not [name for name in attributes if name.startswith("on")], tag
        assert attributes.get("src") is None
        assert attributes.get("href") in (None, "data:,")


def test_only_the_page_itself_may_run() -> None:
    text = page(one(small()))
    (policy,) = [a["content"] or "" for _, a in Parts(text).elements if a.get("http-equiv")]
    style = re.findall(r"<style>(.*?)</style>", text, flags=re.S)[0]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == hashed(scripts(text)[1])
    assert rules["style-src"] == hashed(style)
    assert "unsafe" not in policy


def hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_without_javascript_the_totals_are_there() -> None:
    data = {"title": "Two", "episodes": [small(), small("sleep", total=-99.5)], "pair": None}
    noscript = page(data).partition("<noscript>")[2].partition("</noscript>")[0]
    assert "record against meander, seed 7: total -10.4." in noscript
    assert "sleep against meander, seed 7: total -99.5." in noscript


def test_text_that_no_file_can_hold_is_replaced() -> None:
    assert "A \ufffd\ufffd title" in page(one(small(), title="A \x00\ud800 title")).encode().decode()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"title": "None", "episodes": []}, "no episode to show"),
        ({"title": "Half", "episodes": [small()], "pair": {"first_difference": 3}}, "a pair needs two episodes"),
        (one(small(total=float("nan"))), "cannot be written as JSON"),
        (one(small(total={1, 2})), "cannot be written as JSON"),
    ],
)
def test_what_cannot_be_shown_is_refused(data: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        page(data)


def test_the_page_in_the_docs_has_the_present_front_end() -> None:
    shipped = (Path(__file__).parents[2] / "docs" / "watch-record.html").read_text(encoding="utf-8")
    renew = "garrison watch docs/watch-record.html --out new.html && mv new.html docs/watch-record.html"
    assert scripts(shipped)[1] == script(), renew
    assert style() in shipped, renew
