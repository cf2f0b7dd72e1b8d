"""Everybody against everybody."""

import garrison
from garrison.challenge.payoffs import payoffs
from tests.helpers.red_players import AnyMove


def test_a_matrix_holds_what_evaluate_says() -> None:
    found = payoffs(["sleep", "react-restore"], ["bline", AnyMove], "head", 20, 10, seed=3)
    assert (found.blues, found.reds) == (("sleep", "react-restore"), ("bline", "AnyMove"))
    alone = garrison.evaluate(garrison.load_agent("sleep"), "head", 10, 3, ["bline"], [20])
    assert found.means[0][0] == round(alone.cells[0].mean, 6)
    assert found.worst == tuple(min(row) for row in found.means)
    lines = found.to_text().splitlines()
    assert lines[0] == "Blue's mean return, 20 steps, 10 episodes, rules head, seed 3"
    assert lines[2].split() == ["bline", "AnyMove", "worst"]
    assert len({len(line) for line in lines[2:]}) == 1
    assert found.to_dict()["worst"] == found.worst
