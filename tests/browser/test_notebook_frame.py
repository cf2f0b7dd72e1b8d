"""The page inside a notebook's output: a frame without an address, without storage and without rights."""

from pathlib import Path

import garrison
from tests.helpers.browser import Pages


def test_a_notebook_shows_the_page_and_it_can_be_used(pages: Pages, tmp_path: Path) -> None:
    watched = garrison.watch("record", length=12)
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><title>notebook</title>{watched._repr_html_()}")
    page = pages.open(file)
    frame = page.frame_locator("iframe")
    frame.locator(".card").nth(12).wait_for()
    assert frame.locator(".card").count() == 13
    frame.locator(".scrubber").focus()
    page.keyboard.press("ArrowRight")
    frame.get_by_text("1 / 12").wait_for()
    frame.get_by_text("Difference", exact=True).click()
    frame.get_by_text(watched.episodes[0].turn["blue_text"][0]).first.wait_for()
    assert page.url == file.as_uri()
