"""Where things stand on the page, by their boxes: phones, tablets, screens; one episode and two."""

from pathlib import Path
from typing import Any

import pytest

from tests.helpers.browser import Pages, outside, overflow
from tests.helpers.watched_pages import questioned, recorded, write_page

WIDTHS = (320, 390, 768, 1280, 1920)


def boxes(page: Any, selector: str) -> list[dict[str, float]]:
    found: list[dict[str, float]] = page.evaluate(
        """selector => [...document.querySelectorAll(selector)].filter((node) => node.getClientRects().length)
            .map((node) => node.getBoundingClientRect().toJSON())""",
        selector,
    )
    return found


def overlap(one: dict[str, float], other: dict[str, float]) -> bool:
    return (
        min(one["right"], other["right"]) - max(one["left"], other["left"]) > 0.5
        and min(one["bottom"], other["bottom"]) - max(one["top"], other["top"]) > 0.5
    )


def overlapping(found: list[dict[str, float]]) -> list[tuple[int, int]]:
    pairs = [(i, j) for i in range(len(found)) for j in range(i + 1, len(found))]
    return [(i, j) for i, j in pairs if overlap(found[i], found[j])]


@pytest.fixture(scope="module")
def one_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workflow = {"order": ["op_server", "user"], "fixes": [[3, "user", True]] * 40, "rate": 0.5}
    return write_page(tmp_path_factory.mktemp("one"), questioned() | {"workflow": workflow}, recorded(), title="A page")


@pytest.fixture(scope="module")
def pair_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    episodes = recorded("record", "bline", 40), recorded("sleep", "bline", 40)
    return write_page(tmp_path_factory.mktemp("pair"), *episodes, title="Two", pair={"first_difference": 4})


def check_layout(page: Any, maps: int) -> None:
    page.locator(".card .name").first.wait_for()
    assert overflow(page) <= 0
    assert outside(page) == []
    cards = boxes(page, ".card .frame")
    assert len(cards) == 13 * maps
    assert overlapping(cards) == []
    assert overlapping(boxes(page, ".panel")) == []
    assert overlapping(boxes(page, ".dock button, .dock select, .dock output, .scrubber, .timeline")) == []
    for card, inside in zip(cards, card_contents(page), strict=True):
        for box in inside:
            assert box["left"] >= card["left"] - 0.5
            assert box["right"] <= card["right"] + 0.5
            assert box["bottom"] <= card["bottom"] + 0.5


def card_contents(page: Any) -> list[list[dict[str, float]]]:
    found: list[list[dict[str, float]]] = page.evaluate(
        """() => [...document.querySelectorAll(".card")]
            .map((card) => [...card.querySelectorAll(":scope > text, .chip, .badge")]
                .map((node) => node.getBoundingClientRect()).filter((box) => box.width).map((box) => box.toJSON()))"""
    )
    return found


@pytest.mark.parametrize("width", WIDTHS)
def test_everything_has_its_place(pages: Pages, one_page: Path, width: int) -> None:
    for layer in ("true", "difference"):
        check_layout(pages.open(one_page, f"t=10&layer={layer}", width=width, height=844), maps=1)


@pytest.mark.parametrize("width", WIDTHS)
def test_two_episodes_have_their_places(pages: Pages, pair_page: Path, width: int) -> None:
    page = pages.open(pair_page, "t=20", width=width)
    check_layout(page, maps=2)
    one, other = boxes(page, ".map-panel")
    if width > 900:
        assert one["top"] == other["top"]
        assert one["right"] <= other["left"]
        tops = [box["top"] for box in boxes(page, ".turn")]
        assert tops[0] == tops[1]
    else:
        assert one["bottom"] <= other["top"]


@pytest.mark.parametrize("width", [320, 390, 1000, 1280])
def test_texts_of_a_card_do_not_run_into_each_other(pages: Pages, one_page: Path, width: int) -> None:
    page = pages.open(one_page, "t=20&episode=2", width=width)
    page.locator(".card .name").first.wait_for()
    for layer in "123":
        page.keyboard.press(layer)
        page.locator(f".map[data-layer={('true', 'believed', 'difference')[int(layer) - 1]}]").wait_for()
        for inside in card_contents(page):
            assert len(inside) > 3
            assert overlapping(inside) == []


def test_turning_the_screen_draws_the_map_again(pages: Pages, one_page: Path) -> None:
    page = pages.open(one_page, width=390)
    page.locator(".card .name").first.wait_for()
    tall = boxes(page, ".map")[0]["height"]
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_function("height => document.querySelector('.map').getBoundingClientRect().height < height", arg=tall)
    check_layout(page, maps=1)


def test_the_first_difference_is_marked_and_found(pages: Pages, pair_page: Path) -> None:
    page = pages.open(pair_page)
    assert page.locator(".first-difference").count() == 1
    page.get_by_role("button", name="First difference: step 5").click()
    page.get_by_text("5 / 40").wait_for()
    page.keyboard.press("End")
    page.get_by_text("40 / 40").wait_for()
    page.keyboard.press("d")
    page.get_by_text("5 / 40").wait_for()
    said = page.locator(".spoken").all_inner_texts()
    assert recorded("record", "bline", 40)["turn"]["blue_text"][4] in said[0]
    assert recorded("sleep", "bline", 40)["turn"]["blue_text"][4] in said[1]


def test_a_pair_without_a_difference_has_no_button(pages: Pages, tmp_path: Path) -> None:
    twin = recorded("sleep", "bline", 40)
    page = pages.open(write_page(tmp_path, twin, twin, pair={"first_difference": None}))
    assert page.locator(".card").count() == 26
    assert page.locator(".first-difference, .difference-button").count() == 0


def test_paper_has_the_page_without_its_controls(pages: Pages, one_page: Path) -> None:
    page = pages.open(one_page, "t=10", dark=True)
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator(".controls").is_visible()
    assert page.locator(".map").is_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('.foot')).position") == "static"


def test_nothing_moves_for_who_wants_no_motion(pages: Pages, one_page: Path) -> None:
    duration = "getComputedStyle(document.querySelector('.card .frame')).transitionDuration"
    calm = pages.open(one_page, reduced_motion="reduce")
    calm.locator(".card .frame").first.wait_for()
    assert calm.evaluate(duration) == "0s"
    lively = pages.open(one_page, reduced_motion="no-preference")
    lively.locator(".card .frame").first.wait_for()
    assert lively.evaluate(duration) != "0s"


def test_focus_can_be_seen(pages: Pages, one_page: Path) -> None:
    page = pages.open(one_page)
    for _ in range(4):
        page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
