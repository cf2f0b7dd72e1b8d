"""Axes cover the data, every point is drawn where it belongs, and bad numbers are left out."""

import math
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from garrison.formatting import short
from garrison.report.page import (
    NARROW,
    Bars,
    Level,
    Mark,
    Series,
    areas,
    bars,
    heatmap,
    lines,
    scatter,
    sparkline,
    stacked,
)
from garrison.report.page.heatmap import STRONGEST
from garrison.report.page.scale import cost_scale, scale
from garrison.viewer.palette import HEAT, INK, PAPER


def drawn(svg: str, tag: str, kind: str) -> list[ElementTree.Element]:
    return [e for e in ElementTree.fromstring(svg).iter(tag) if kind in (e.get("class") or "").split()]


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    "values", [[5.0], [0.0, 0.0], [-3.0, 7.0], [1.0, 1e6], [1e-9, 2e-9], [173.0, 180.0], [1e12, 1.0], [999.6, 1000.4]]
)
def test_an_axis_covers_its_values_and_its_ticks_differ(values: list[float], log: bool) -> None:
    axis = scale(values, log=log)
    known = [v for v in values if v > 0 or not log]
    assert all(-1e-9 <= axis.place(v) <= 1 + 1e-9 for v in [*known, *axis.ticks])
    assert 2 <= len(axis.ticks) <= 12
    assert list(axis.ticks) == sorted(set(axis.ticks))
    assert len(set(axis.labels())) == len(axis.ticks)


def test_ticks_are_round_numbers() -> None:
    assert scale([0, 97]).labels() == ["0", "20", "40", "60", "80", "100"]
    assert scale([0, 11e3], zero=True).labels() == ["0", "2.5 k", "5.0 k", "7.5 k", "10.0 k", "12.5 k"]
    assert scale([2, 30_000], log=True).labels() == ["1", "10", "100", "1 k", "10 k", "100 k"]


def test_numbers_are_short() -> None:
    numbers = (1_234_567, 45_600, 789.4, 3.21, 999.7, 999_700, 0, -1500, 2.5e9, 0.0123)
    written = ["1.23 M", "45.6 k", "789", "3.21", "1 k", "1 M", "0", "-1.5 k", "2.5 G", "0.0123"]
    assert [short(n) for n in numbers] == written


@pytest.mark.parametrize("make", [lines, scatter])
def test_points_lie_inside_the_frame_and_grow_upwards(make: object) -> None:
    series = Series("a", [1, 10, 100], [10.0, 1000.0, 100.0], [8, 900, 90], [20, 1100, 110], [False, True, False])
    svg = make([series], log_x=True, log_y=True).svg  # type: ignore[operator]
    points = drawn(svg, "circle", "point")
    assert len(points) == 3
    xs, ys = ([float(p.get(k) or "nan") for p in points] for k in ("cx", "cy"))
    assert xs == sorted(xs)
    assert ys[1] < ys[2] < ys[0]  # pixels are counted from the top
    assert all(0 <= x <= 720 for x in xs)
    assert all(0 <= y <= 340 for y in ys)
    assert len(drawn(svg, "circle", "doubtful")) == 1
    assert len(drawn(svg, "path", "error")) == 3
    assert points[0].findtext("title") == "a, 1: 10"


def test_what_cannot_be_drawn_is_left_out() -> None:
    values = [1.0, math.nan, math.inf, None, -5.0, 0.0, 2.0]
    svg = lines([Series("a", list(range(1, 8)), values)], log_y=True).svg
    assert len(drawn(svg, "circle", "point")) == 2
    assert "nan" not in svg
    assert "inf" not in svg


def test_long_lines_have_no_markers() -> None:
    svg = lines([Series("a", list(range(500)), [float(k % 7) for k in range(500)])]).svg
    assert not drawn(svg, "circle", "point")
    assert len((drawn(svg, "polyline", "line")[0].get("points") or "").split()) == 500


def test_bars_stand_on_zero_and_their_heights_are_proportional() -> None:
    svg = bars(["x", "y"], [Bars("a", [10.0, 20.0]), Bars("b", [None, 40.0], doubtful=[False, True])]).svg
    heights = [float(r.get("height") or "nan") for r in drawn(svg, "rect", "bar")]
    assert heights == pytest.approx([heights[0], 2 * heights[0], 4 * heights[0]], rel=1e-3)
    assert len(drawn(svg, "rect", "doubtful")) == 1
    below = drawn(bars(["x"], [Bars("a", [-10.0]), Bars("b", [10.0])]).svg, "rect", "bar")
    tops = [float(r.get("y") or "nan") for r in below]
    assert tops[0] == pytest.approx(tops[1] + float(below[1].get("height") or "nan"), abs=0.02)


def test_names_below_bars_break_between_words_only() -> None:
    names = [f"garrison PPO native, {k} workers" for k in range(7)]
    texts = [e.text for e in drawn(bars(names, [Bars("a", [1.0] * 7)]).svg, "text", "middle")]
    assert texts[:4] == ["garrison PPO", "native, 0", "workers", "garrison PPO"]


def test_bars_lie_where_a_word_of_their_names_is_too_long() -> None:
    names = ["Stable-Baselines3 PPO", "convolutions and products alone", *"abcdefgh"]
    one = Bars("a", [10.0, 20.0, *[1.0] * 8], [8.0] * 10, [30.0] * 10, [True, *[False] * 9])
    svg = bars(names, [one, Bars("b", [40.0, None])], y_label="steps/s").svg
    assert [e.text for e in drawn(svg, "text", "end")] == names
    boxes = drawn(svg, "rect", "bar")
    lefts, widths, tops = ([float(r.get(key) or "nan") for r in boxes] for key in ("x", "width", "y"))
    assert lefts == [lefts[0]] * 11
    assert widths[:3] == pytest.approx([widths[0], 4 * widths[0], 2 * widths[0]], rel=1e-3)
    assert tops == sorted(set(tops))
    assert len(drawn(svg, "rect", "doubtful")) == 1
    assert len(drawn(svg, "path", "error")) == 10
    assert "steps/s" in [e.text for e in drawn(svg, "text", "label")]


def test_stacked_parts_follow_each_other_and_shares_fill_the_bar() -> None:
    svg = stacked(["r", "s"], {"p": [1.0, 3.0], "q": [1.0, 1.0]}, share=True).svg
    first, second, third, fourth = (
        (float(r.get("x") or "nan"), float(r.get("width") or "nan")) for r in drawn(svg, "rect", "bar")
    )
    assert first[0] + first[1] == pytest.approx(second[0], abs=0.02)
    assert third[1] == pytest.approx(3 * fourth[1], rel=1e-3)
    assert first[1] + second[1] == pytest.approx(third[1] + fourth[1], abs=0.02)


def test_heat_grows_with_the_value() -> None:
    cells = drawn(heatmap(["r"], ["a", "b", "c", "d"], [[1.0, None, 5.0, math.nan]]).svg, "rect", "heat")
    low, high = (float(c.get("fill-opacity") or "nan") for c in cells)
    assert low < 0.1 < 0.8 < high


def test_doubtful_heat_is_marked() -> None:
    chart = heatmap(["r"], ["a", "b"], [[1.0, 5.0]], doubtful=[[False, True]])
    assert [e.text for e in drawn(chart.svg, "text", "cell")] == ["1", "~5"]


@pytest.mark.parametrize(
    "chart",
    [
        lines([]),
        lines([Series("a", [], [])]),
        lines([Series("a", [1.0], [-1.0])], log_y=True),
        scatter([Series("a", [1.0], [None])]),
        bars([], []),
        bars(["a"], [Bars("x", [None])]),
        stacked([], {}),
        stacked(["a"], {"p": [0.0]}),
        heatmap([], [], []),
    ],
)
def test_nothing_to_draw_says_so(chart: object) -> None:
    root = ElementTree.fromstring(chart.svg)  # type: ignore[attr-defined]
    assert [e.text for e in root.iter("text")] == ["no data"]


def test_one_series_needs_no_legend() -> None:
    assert lines([Series("a", [1], [1])]).legend == ()
    two = lines([Series("a", [1], [1]), Series("b", [1], [2], dashed=True)])
    assert two.legend == (("c0", "a"), ("c1 dashed", "b"))


def luminance(colour: list[float]) -> float:
    parts = [part / 255 for part in colour]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("form", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("opacity", [0.0, 0.3, 0.6, STRONGEST])
def test_numbers_in_a_heat_map_can_be_read(form: int, opacity: float) -> None:
    ink, paper, heat = ([int(c[form][k : k + 2], 16) for k in (1, 3, 5)] for c in (INK, PAPER, HEAT))
    ground = [opacity * h + (1 - opacity) * p for h, p in zip(heat, paper, strict=True)]
    dark, bright = sorted((luminance(ink), luminance(ground)))
    assert (bright + 0.05) / (dark + 0.05) >= 4.5  # WCAG AA


def test_names_of_rows_stay_in_the_picture() -> None:
    names = ["short", "runs/" + "deep/" * 40 + "the-end"]
    for chart in (stacked(names, {"part": [1.0, 2.0]}), heatmap(names, ["a"], [[1.0], [2.0]])):
        labels = [e for e in ElementTree.fromstring(chart.svg).iter("text") if e.get("class") == "tick end"]
        assert [label.text[-7:] for label in labels if label.text] == ["short", "the-end"]
        assert all(float(label.get("x", 0)) - 7.0 * len(label.text or "") >= 0 for label in labels)


def test_what_rounding_made_of_a_constant_has_an_axis() -> None:
    axis = scale([0.1, 0.1 + 1e-17, 0.10000000000000002])
    assert axis.low < 0.1 < axis.high
    assert len(set(axis.labels())) == len(axis.ticks) > 1


def test_costs_rise_towards_zero_and_stay_apart() -> None:
    axis = cost_scale([-700.0, -40.0, -15.0, None])
    places = [axis.place(value) for value in (-700.0, -40.0, -15.0)]
    assert places == sorted(places)
    assert places[2] - places[1] > 0.15
    assert list(axis.ticks) == sorted(axis.ticks)
    assert {"-1 k", "-50", "-10"} <= set(axis.labels())
    assert axis.shows(-3.0)
    assert not axis.shows(3.0)
    assert not axis.shows(0.0)


def test_marks_stand_at_their_place_and_outside_ones_are_left_out() -> None:
    marks = [Mark(5, "here"), Mark(10, "end", is_tick=True), Mark(11, "beyond"), Mark(float("nan"), "nowhere")]
    svg = lines([Series("a", [0, 10], [1, 2])], marks=marks, own_ticks=False).svg
    (axis,) = drawn(svg, "line", "axis")
    left, right = (float(axis.get(end) or "nan") for end in ("x1", "x2"))
    found = {mark.findtext("title"): mark for mark in drawn(svg, "line", "mark")}
    assert set(found) == {"here: 5", "end: 10"}
    assert float(found["here: 5"].get("x1") or "nan") == pytest.approx((left + right) / 2)
    assert float(found["end: 10"].get("x1") or "nan") == pytest.approx(right)
    assert ">here<" in svg
    assert ">end<" not in svg


def test_names_of_marks_and_levels_do_not_lie_on_one_another() -> None:
    marks = [Mark(5.0 + k / 100, f"resumed {k}") for k in range(5)]
    levels = [Level(1.5, "one"), Level(1.501, "two"), Level(1.9, "three")]
    svg = lines([Series("a", [0, 10], [1, 2])], marks=marks, levels=levels).svg
    names = [text.text for text in drawn(svg, "text", "name")]
    assert names == ["one 1.5", "three 1.9", "resumed 0"]
    assert len(drawn(svg, "line", "level")) == 3


def test_levels_are_inside_the_axis_also_of_costs() -> None:
    svg = lines([Series("a", [0, 1], [-700, -300])], levels=[Level(-13.8, "the winner")], costs=True).svg
    (level,) = drawn(svg, "line", "level")
    line = drawn(svg, "polyline", "line")[0].get("points") or ""
    assert 0 < float(level.get("y1") or "nan") < min(float(point.split(",")[1]) for point in line.split())


def test_an_axis_that_is_tight_ends_where_its_values_do() -> None:
    axis = scale([70.0, 864_000.0], tight=True)
    assert (axis.low, axis.high) == (0.0, 864_000.0)
    assert axis.labels() == ["0", "200 k", "400 k", "600 k", "800 k"]
    assert scale([500.0, 864.0], tight=True).low == 500.0


def test_a_faint_line_has_the_colour_of_the_next_and_no_name() -> None:
    chart = lines([Series("raw", [0, 1], [0, 1], faint=True), Series("a", [0, 1], [0, 1]), Series("b", [0], [1])])
    assert [name for _, name in chart.legend] == ["a", "b"]
    groups = [e.get("class") for e in ElementTree.fromstring(chart.svg).iter("g")]
    assert groups == ["c0", "c0", "c1"]


def test_points_that_are_not_joined_stand_alone_in_a_line_chart() -> None:
    chart = lines([Series("a", [0, 1], [0, 1]), Series("b", [0, 1], [1, 0], joined=False)])
    assert len(drawn(chart.svg, "polyline", "line")) == 1
    assert len(drawn(chart.svg, "circle", "point")) == 4


def test_areas_fill_the_whole_height_at_every_place() -> None:
    chart = areas([0, 1, 2], {"a": [1, 2, 0], "b": [3, 2, 0], "c": [0, 4, 5]}, width=NARROW)
    parts = drawn(chart.svg, "polygon", "area")
    edges = [[float(p.split(",")[1]) for p in (part.get("points") or "").split()] for part in parts]
    for below, above in pairwise(edges):
        assert below[:3] == above[:2:-1]  # each begins where the one below it ends
    assert len(set(edges[0][3:])) == 1
    assert len(set(edges[-1][:3])) == 1
    heights = [bottom - top for top, bottom in zip(edges[0][:3], edges[0][:2:-1], strict=True)]
    whole = edges[0][3] - edges[-1][0]
    assert heights == pytest.approx([whole / 4, whole / 4, 0.0], abs=0.2)
    assert "a: 16.7 % on average" in chart.svg
    assert "no data" in areas([1], {"a": [1]}).svg


def test_a_sparkline_spans_its_values_and_needs_two() -> None:
    svg = sparkline([1.0, 3.0, 2.0], [0.0, 2.0, 1.0], [2.0, 4.0, 3.0], name="a <b>")
    root = ElementTree.fromstring(svg)
    assert root.findtext("title") == "a <b>"
    points = [tuple(map(float, p.split(","))) for p in (root.find("polyline").get("points") or "").split()]  # type: ignore[union-attr]
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert points[1][1] < points[2][1] < points[0][1]
    assert root.find("polygon") is not None
    assert sparkline([1.0]) == ""
    assert sparkline([1.0, float("nan")]) == ""
    assert "nan" not in sparkline([2.0, 2.0])
