"""What a person sees while a run goes."""

import io

import pytest
from rich.console import Console

from garrison.formatting import clock, short
from garrison.learn import stages
from garrison.runs.characters import on_scale, sparkline
from garrison.runs.view import NUMBERS, Clock, LiveView, PlainView, QuietView, Title, make_view

TITLE = Title("ppo-mixed", "against bline, 16 environments", "runs/x", {"random": -646.7, "the winner": -15.2})
ROW = {
    "step": 1_500_000.0,
    "time/elapsed_time": 10.0,
    "time/fps": 150_000.0,
    "rollout/ep_reward_mean": -42.5,
    "train/policy_loss": -0.0123,
    "train/value_loss": 1.5,
    "train/entropy": 3.21,
    "time_split/act": 1.0,
    "time_split/learn": 3.0,
}


def test_the_live_view_shows_progress_score_marks_losses_and_time_split() -> None:
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, width=100, color_system=None)
    with LiveView(TITLE, console) as view:
        first = _text(view)
        assert "kernels are compiled" in first
        assert "elapsed" in first
        assert "left" not in first
        view.show({**ROW, "rollout/ep_reward_mean": -90.0}, 0.2)
        assert "left" not in _text(view)
        view.show({**ROW, "rollout/ep_reward_mean": -30.0}, 0.25)
        view.show({**ROW, "time/elapsed_time": 20.0}, 0.5)
        shown = _text(view)
        view.say("careful")
    assert "careful" in output.getvalue()
    for part in (
        "50.0 %",
        "1.5 M steps",
        "150 k/s",
        "0:20 elapsed",
        "0:17 left",
        "-0.0123",
        "3.21",
        "learn 75 %",
        "act 25 %",
    ):
        assert part in shown, part
    assert "-30.00  best so far" in shown
    assert "return  ▁█" in shown
    scores = [line for line in shown.splitlines() if any(n in line for n in ("random", "the winner", "this run"))]
    assert [("the winner" in line, "this run" in line, "random" in line) for line in scores] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]


def _text(view: LiveView) -> str:
    console = Console(file=io.StringIO(), width=view._console.width, color_system=None)
    console.print(view._panel())
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_plain_lines_come_at_the_start_and_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    with PlainView(TITLE) as view:
        for share in (0.1, 0.2, 0.3, 1.0, 1.0):  # time can end between updates that are logged together
            view.show({**ROW, "time/elapsed_time": 100 * share}, share)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("ppo-mixed: against bline")
    assert "random -646.7" in lines[1]
    assert "kernels are compiled" in lines[2]
    assert [line.split("%")[0].strip() for line in lines[3:]] == ["10.0", "100.0"]
    assert "-42.50" in lines[3]
    assert "left" not in lines[3]


def test_quiet_shows_only_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    with QuietView() as view:
        view.show(ROW, 0.5)
        view.say("the disk is full")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "the disk is full\n"


def test_a_pipe_gets_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert type(make_view(TITLE, quiet=False)) is PlainView
    assert type(make_view(TITLE, quiet=True)) is QuietView


def test_time_left_does_not_count_the_first_update_which_compiles() -> None:
    timer = Clock()
    timer.add({**ROW, "time/elapsed_time": 30.0}, 0.1)
    timer.add({**ROW, "time/elapsed_time": 32.0}, 0.3)
    assert timer.left == pytest.approx(7.0)


def test_numbers_as_people_say_them() -> None:
    assert [short(n) for n in (7, 1500, 43_210, 999_999, 12_345_678, 3e9)] == [
        "7",
        "1.5 k",
        "43.2 k",
        "1 M",
        "12.3 M",
        "3 G",
    ]
    assert [clock(s) for s in (0, 59.6, 3599, 7322)] == ["0:00", "1:00", "59:59", "2:02:02"]


FULL = {
    **ROW,
    **dict.fromkeys([f"train/{name}" for name in NUMBERS.values()], -0.000123456),
    **{f"time_split/{stage}": 1.0 for stage in ("act", "learn", "step", "copy", "log", "wait", "send", "receive")},
}


@pytest.mark.parametrize("width", [60, 80, 140])
def test_the_panel_has_the_terminals_width_and_breaks_no_entry(width: int) -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    title = Title("ppo", "against bline:0.5,meander:0.5, rules leaderboard, 1024 envs, 3 M steps, seed 12345", "x", {})
    with LiveView(title, console) as view:
        view.show(FULL, 0.1)
        view.show({**FULL, "time/elapsed_time": 5000.0}, 0.2)
        shown = _text(view)
    lines = shown.splitlines()
    assert {len(line) for line in lines} == {width}
    values = [f"{stages.label(s)} {100 * share:.0f} %" for s, share in view._clock.split.items()]
    for entry in (*values, "3 M steps", "seed 12345", "1.5 M steps", "-0.000123", "policy lag"):
        assert any(entry in line for line in lines), entry


def test_costs_are_apart_on_the_scale_and_gains_are_linear() -> None:
    best, mine, worst = on_scale([-15.0, -40.0, -600.0])
    assert (best, worst) == (0.0, 1.0)
    assert mine > 0.2
    assert on_scale([0.0, 50.0, 100.0]) == [1.0, 0.5, 0.0]
    assert on_scale([]) == []
    assert on_scale([3.0]) == [0.0]


def test_a_curve_has_at_most_as_many_columns_as_there_are() -> None:
    assert sparkline([], 10) == ""
    assert sparkline([float(k) for k in range(1000)], 8) == "▁▂▃▄▅▆▇█"
