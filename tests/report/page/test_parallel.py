"""Parallel coordinates: places on axes of numbers and of words."""

import re

from garrison.report.page import Coordinate, parallel


def places(svg: str) -> list[list[float]]:
    """Return the heights of each line's points."""
    found = re.findall(r'points="([^"]+)"', svg)
    return [[float(point.split(",")[1]) for point in line.split()] for line in found]


def test_a_line_goes_through_its_value_on_every_axis() -> None:
    axes = [Coordinate("rate", [0.001, 0.1, 0.01], log=True), Coordinate("score", [0.0, 10.0, 5.0])]
    chart = parallel(axes, ["a", "b", "c"], [False, True, False], name="mine")
    low, middle, top = places(chart.svg)  # the best one is drawn last
    assert low[0] > middle[0] > top[0]  # heights grow downwards
    assert abs(middle[0] - (low[0] + top[0]) / 2) < 0.2  # on a logarithmic axis, halfway
    assert low[1] > middle[1] > top[1]
    assert chart.legend == (("c1", "best"), ("c0", "others")) or len(chart.legend) == 2


def test_words_have_places_of_their_own_and_are_escaped() -> None:
    axes = [Coordinate("red", ["<b>", "meander", "<b>"]), Coordinate("score", [1.0, 2.0, 3.0])]
    chart = parallel(axes, ["a", "b", "c"], [False] * 3)
    lines = places(chart.svg)
    assert lines[0][0] == lines[2][0] != lines[1][0]
    assert "<b>" not in chart.svg
    assert "&lt;b&gt;" in chart.svg


def test_choices_without_a_place_are_left_out() -> None:
    axes = [Coordinate("rate", [0.1, None]), Coordinate("score", [1.0, 2.0])]
    assert len(places(parallel(axes, ["a", "b"], [True, False]).svg)) == 1
    assert "no data" in parallel(axes[:1], ["a", "b"], [True, False]).svg
