"""The front end's functions that need no document, run by the browser's own engine."""

import json
import re
from typing import Any

import pytest

from garrison.viewer.bundle import FRONT, joined
from tests.helpers.watched_pages import recorded


@pytest.fixture
def call(browser: Any) -> Any:
    """Call a function of a module of the front end: call("verdict", "verdict", 1, 0, False)."""
    sources = {file.stem: file.read_text() for file in FRONT.glob("*.js")}
    page = browser.new_page()

    def run(module: str, function: str, *arguments: Any) -> Any:
        written = ", ".join(a if isinstance(a, Js) else json.dumps(a) for a in arguments)
        return page.evaluate(
            f"(() => {{ {joined(sources, module)}\nreturn module_{module}.{function}({written}); }})()"
        )

    yield run
    page.close()


class Js(str):
    """An argument that is JavaScript itself."""


@pytest.mark.parametrize(
    ("access", "belief", "foothold", "verdict"),
    [
        (0, 0, False, "agree"),
        (1, 2, False, "agree"),
        (2, 3, False, "agree"),
        (1, 0, False, "unseen"),
        (2, 0, False, "unseen"),
        (0, 2, False, "clean"),
        (0, 3, False, "clean"),
        (2, 2, False, "level"),
        (1, 3, False, "level"),
        (0, 1, False, "unsure"),
        (2, 1, False, "unsure"),
        (2, 0, True, "foothold"),
    ],
)
def test_belief_is_held_against_the_truth(call: Any, access: int, belief: int, foothold: bool, verdict: str) -> None:
    assert call("verdict", "verdict", access, belief, foothold) == verdict


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(-10.4, 2, "\u221210.4"), (0, 2, "0"), (-0.001, 2, "0"), (1141.8, 2, "1,141.8"), (None, 2, "\u2013")],
)
def test_numbers_are_written_for_people(call: Any, value: float | None, digits: int, text: str) -> None:
    assert call("numbers", "written", value, digits) == text


def test_ticks_are_round_and_inside(call: Any) -> None:
    assert call("numbers", "ticks", 0, 100, 4) == [0, 50, 100]
    assert call("numbers", "ticks", -13.1, 0, 4) == [-10, -5, 0]
    assert call("numbers", "ticks", 0, 0, 4) == [0]


def test_an_action_is_a_verb_and_a_host(call: Any) -> None:
    hosts = ["User0", "Op Server"]
    assert call("names", "readAction", "Restore User0", hosts) == {
        "name": "Restore User0",
        "verb": "Restore",
        "host": 0,
    }
    assert call("names", "readAction", "Remove Op Server", hosts)["host"] == 1
    assert call("names", "readAction", "Sleep", hosts)["host"] == -1


def test_the_address_is_read_and_written(call: Any) -> None:
    view = {"position": 12, "layer": "difference", "episode": 1}
    assert call("address", "readAddress", "#t=12&layer=difference&episode=2") == view
    assert call("address", "writeAddress", view, 3) == "#t=12&layer=difference&episode=2"
    assert call("address", "writeAddress", view, 1) == "#t=12&layer=difference"
    assert call("address", "readAddress", "#t=-3&layer=nonsense&episode=0") == {}
    assert call("address", "readAddress", "") == {}


def test_steps_share_columns_where_there_is_little_room(call: Any) -> None:
    assert call("binning", "columnsFor", 100, 800) == {"stepsEach": 1, "count": 100}
    assert call("binning", "columnsFor", 1000, 300) == {"stepsEach": 9, "count": 112}
    terms = [[-1, 0], [-3, 2], [-5, 0]]
    assert call("binning", "meanTerms", terms, {"stepsEach": 2, "count": 2}) == [[-2, 1], [-5, 0]]


def test_hosts_stand_apart_on_a_map_of_any_width(call: Any) -> None:
    groups = call("place", "groupHosts", recorded())
    names = recorded()["names"]["subnets"]
    assert [names[group["subnet"]] for group in groups] == ["User", "Enterprise", "Operational"]
    for width in (240, 330, 539, 540, 800, 1300):
        places = call("place", "placeMap", width, groups)
        height, panels = places["height"], places["panels"]
        assert len(panels) == 3
        assert not any(touch(a, b) for k, a in enumerate(panels) for b in panels[k + 1 :])
        for panel in panels:
            assert panel["x"] >= 0
            assert panel["x"] + panel["width"] <= width + 0.01
            assert panel["y"] + panel["height"] <= height + 0.01


def touch(one: dict[str, float], other: dict[str, float]) -> bool:
    return (
        one["x"] < other["x"] + other["width"]
        and other["x"] < one["x"] + one["width"]
        and one["y"] < other["y"] + other["height"]
        and other["y"] < one["y"] + one["height"]
    )


def test_chips_give_way_when_there_is_no_room(call: Any) -> None:
    letters = Js("(text) => 6 * text.length")
    names = ["Apache", "Tomcat", "Vsftpd"]

    def fitted(room: float) -> list[str]:
        return [chip["text"] for chip in call("fit", "fitChips", names, room, letters)]

    assert fitted(200) == names
    assert fitted(80) == ["Ap", "To", "Vs"]
    assert fitted(60) == ["Ap", "+2"]
    assert fitted(5) == ["3"]
    assert call("fit", "fitChips", [], 5, letters) == []
    assert call("fit", "shorten", "Op_Server0", 36, letters) == "Op_Se…"


def test_an_episode_is_indexed_by_position(call: Any) -> None:
    episode = recorded("sleep", "bline", 30)
    index = call("episode_index", "indexEpisode", episode)
    turn, state = episode["turn"], episode["state"]
    positions = range(1, 31)
    assert index["marks"]["down"] == [p for p in positions if state["service"][p] == 0] != []
    won = [p for p in positions if turn["red_kind"][p - 1] == 3 and turn["red_success"][p - 1] == 1]
    assert index["marks"]["won"] == won != []
    assert index["marks"]["escalated"]
    assert index["steps"] == 30
    assert index["end"] == episode["total"]


def test_caught_exploits_are_counted_by_host(call: Any) -> None:
    episode = recorded()
    index = call("episode_index", "indexEpisode", episode)
    turn = episode["turn"]
    caught = [t for t in range(100) if turn["caught"][t]]
    assert index["marks"]["caught"] == [t + 1 for t in caught] != []
    assert sum(index["caughtSoFar"][100]) == len(caught)
    first = caught[0]
    assert sum(index["caughtSoFar"][first]) == 0
    assert index["caughtSoFar"][first + 1][turn["red_target"][first]] == 1
    assert not set(index["marks"]["won"]) & set(index["marks"]["caught"])


def test_the_best_outcomes_and_the_one_played_are_shown(call: Any) -> None:
    outcome = {"actions": list(range(20)), "mean": [-float(k) for k in range(20)], "ci95": [0.5] * 20, "played": 15}
    ranked = call("what_if", "rankOutcomes", outcome)
    assert [row["action"] for row in ranked] == list(range(20))
    few = call("what_if", "fewOutcomes", ranked, 15)
    assert [row["action"] for row in few] == [*range(10), 15]


def test_a_reward_is_told_by_its_terms(call: Any) -> None:
    episode = recorded("sleep", "bline", 30)
    last = call("reward", "rewardText", episode, 30)
    assert last.startswith(f"Step 30: \u2212{-episode['turn']['reward'][29]:g} = ")
    assert "OTService \u221210" in last
    assert call("reward", "rewardText", episode, 0) == "Nothing has been paid yet."
    assert call("reward", "rewardText", episode, 1) == "Step 1 cost nothing."


def test_marks_that_fall_on_one_pixel_are_drawn_once(call: Any) -> None:
    shape, near = Js("() => 'm0 0h1v1h-1z'"), Js("(p) => p / 100")
    assert call("timeline", "marksPath", shape, [1, 2, 3, 200], near, 5).count("M") == 2


def test_regret_is_a_bar_and_the_largest_is_found(call: Any) -> None:
    tried = Js("new Map([[3, { regret: 0 }], [7, { regret: 4 }], [9, { regret: 2 }]])")
    bars = [
        call("timeline", "marksPath", Js(f"module_timeline.regretBars({tried}, 12)"), [p], Js("(p) => p"), 6)
        for p in (3, 7, 9)
    ]
    assert [re.findall(r"v-([\d.]+)", bar) for bar in bars] == [["1.5"], ["10.5"], ["6.0"]]
    assert call("what_if", "largestRegret", tried) == 7


def test_unknown_metrics_come_last_with_plain_names(call: Any) -> None:
    metrics = {"new_thing": 3, "exploits": 2, "mean_time_to_clear": None, "intrusions": []}
    ordered = call("metrics", "orderedMetrics", metrics)
    assert [name for name, _ in ordered] == ["mean_time_to_clear", "exploits", "new_thing"]
    assert call("metrics", "plainName", "new_thing") == "New thing"


@pytest.mark.parametrize(("milliseconds", "position"), [(-3, 5), (0, 5), (99, 5), (100, 6), (450, 9), (1e9, 20)])
def test_time_moves_the_position_forward_only(call: Any, milliseconds: float, position: int) -> None:
    assert call("player", "positionAt", 5, milliseconds, 10, 20) == position
