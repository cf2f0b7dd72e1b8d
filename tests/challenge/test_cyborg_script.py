"""What the challenge's own script prints for a seed: the digits that the original printed."""

import random

import pytest

from garrison.agents import load_agent
from garrison.cage2.names import DEFAULT_RULES
from garrison.challenge.cyborg_script import ScriptCell, play_script
from garrison.errors import UserError

# The unmodified script's numbers with MAX_EPS = 4, an agent like alert-restore and random.seed(153) at its start.
RECORDED = {
    "head": [
        ("B_lineAgent", 30, "-14.449999999999996", "0.6454972243679029"),
        ("RedMeanderAgent", 30, "-11.95", "0.19148542155126694"),
        ("SleepAgent", 30, "0.0", "0.0"),
        ("B_lineAgent", 50, "-24.55000000000001", "0.3872983346207512"),
        ("RedMeanderAgent", 50, "-23.575000000000003", "2.486463351831273"),
        ("SleepAgent", 50, "0.0", "0.0"),
        ("B_lineAgent", 100, "-54.40000000000006", "1.4988884770611657"),
        ("RedMeanderAgent", 100, "-83.90000000000003", "39.20646205240489"),
        ("SleepAgent", 100, "0.0", "0.0"),
    ],
    "leaderboard": [
        ("B_lineAgent", 30, "-12.449999999999996", "4.902040391510456"),
        ("RedMeanderAgent", 30, "-9.024999999999999", "1.4863265679744364"),
        ("SleepAgent", 30, "0.0", "0.0"),
        ("B_lineAgent", 50, "-20.825000000000006", "22.81247831049199"),
        ("RedMeanderAgent", 50, "-18.275", "0.6701989754294383"),
        ("SleepAgent", 50, "0.0", "0.0"),
        ("B_lineAgent", 100, "-42.65000000000001", "29.757071988576662"),
        ("RedMeanderAgent", 100, "-60.40000000000006", "17.726627804896594"),
        ("SleepAgent", 100, "0.0", "0.0"),
    ],
}


@pytest.mark.parametrize("rules", RECORDED)
def test_the_lines_are_those_of_the_original_digit_by_digit(rules: str) -> None:
    cells = play_script(load_agent("alert-restore"), 153, rules, 4)
    expected = [
        f"Average reward for red agent {red} and steps {steps} is: {mean} with a standard deviation of {deviation}"
        for red, steps, mean, deviation in RECORDED[rules]
    ]
    assert [str(cell) for cell in cells] == expected


def test_pythons_generator_is_left_alone_between_cells_and_after_them() -> None:
    before = random.getstate()
    lines = []
    for cell in play_script(load_agent("sleep"), 1, episodes=2):
        assert random.getstate() == before
        lines.append(str(cell))
        random.seed(len(lines))  # whatever the caller draws in between changes nothing
        before = random.getstate()
    assert lines == [str(cell) for cell in play_script(load_agent("sleep"), 1, episodes=2)]
    assert len(lines) == 9


def test_the_agent_decides_the_rules_if_nobody_else_does() -> None:
    assert load_agent("record").rules == "leaderboard" != DEFAULT_RULES
    mine, named = (play_script(load_agent("record"), 3, rules, 2) for rules in (None, "leaderboard"))
    assert [next(mine) for _ in range(2)] == [next(named) for _ in range(2)]


def test_a_cell_is_told_as_the_script_does() -> None:
    assert str(ScriptCell("meander", 50, (-1.0, -2.0))) == (
        "Average reward for red agent RedMeanderAgent and steps 50 is: -1.5 with a standard deviation of "
        "0.7071067811865476"
    )


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"episodes": 1}, "episodes must be at least 2"),
        ({"cyborg_seed": -1}, "cyborg_seed must lie between 0 and"),
        ({"rules": "leadboard"}, "did you mean 'leaderboard'"),
    ],
)
def test_wrong_input_is_refused(options: dict[str, int], complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        next(play_script(load_agent("sleep"), **{"cyborg_seed": 1, **options}))  # type: ignore[arg-type]
