"""The page of a search shows what it found, what it tried and how to go on."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

from garrison.report.search_page import search_page
from garrison.report.search_state import state_of_search
from garrison.runs import marks
from garrison.workflow.results import read_search
from tests.helpers.written_searches import write_search_folder


def html_of(path: Path, seconds: float | None = None) -> str:
    return search_page(read_search(path), state_of_search(path), 0.0, seconds).html()


def test_it_shows_the_best_that_counts_and_every_order(tmp_path: Path) -> None:
    html = html_of(write_search_folder(tmp_path / "search"))
    root = ElementTree.fromstring(html.removeprefix("<!DOCTYPE html>\n"))
    text = " ".join(" ".join(root.itertext()).split())
    assert "-31.00 ± 1.50" in text
    assert "Best of those that comply: user → op_host → enterprise → defender → op_server (order 116)." in text
    assert len(re.findall('class="badge bad">no<', html)) == 15
    assert html.count('class="badge good">best<') == 1
    assert "Posterior over all orders" in html
    assert "30 orders" in text
    assert all(svg.findtext("title") for svg in root.iter("svg"))


def test_the_best_rises_in_steps_and_only_with_orders_that_comply(tmp_path: Path) -> None:
    html = html_of(write_search_folder(tmp_path / "search", tried=4))
    line = re.search('<polyline class="line" points="([^"]+)"', html)
    assert line is not None
    points = [tuple(map(float, point.split(","))) for point in line[1].split()]
    assert len(points) == 3  # up at the third order, level to the fourth, and up again there
    assert points[1][0] == points[2][0]
    assert points[0][1] == points[1][1] > points[2][1]


def test_a_live_search_waits_longer_than_a_run(tmp_path: Path) -> None:
    path = write_search_folder(tmp_path / "search")
    assert 'data-patience="630.0"' in html_of(path, 10.0)
    assert "<script" not in html_of(path)


def test_a_search_that_was_resumed_and_killed_is_known_as_killed(tmp_path: Path) -> None:
    path = write_search_folder(tmp_path / "search")
    assert state_of_search(path).word == "finished"
    late = marks.RunMark(marks.RESUMED, 5, 10.0, "2999-01-01T00:00:00+00:00")
    with (path / marks.FILE).open("a") as file:
        file.write(json.dumps(late._asdict()) + "\n")
    state = state_of_search(path)
    assert state.word == "killed"
    assert f"garrison workflow search --resume {path}" in state.text
