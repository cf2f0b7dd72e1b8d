"""The defender that sees everything: what it is asked, which episodes it plays, and its rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from garrison.agents import load_agent
from garrison.bench.publish import stored
from garrison.bench.suites import limit_cells
from garrison.bench.suites.limit_cells import Arguments, run
from garrison.bench.suites.truth_player import play_by_values
from garrison.cage2.names import NUM_ACTIONS
from garrison.challenge.evaluation import evaluate


class Sleeper:
    """Knows only that Sleep is best, alone or together with every other action."""

    def __init__(self, alone: bool) -> None:
        self.alone, self.asked = alone, []  # type: tuple[bool, list[tuple[int, int]]]

    def weigh(self, states: NDArray[np.void], lefts: NDArray[np.int64]) -> NDArray[np.float64]:
        assert (states["t"] + lefts[0] == 20).all()
        self.asked.append((len(states), int(lefts[0])))
        worth = np.full((len(states), NUM_ACTIONS), -1.0 if self.alone else 0.0)
        worth[:, 0] = 0.0
        return worth


@pytest.mark.parametrize(("alone", "like"), [(True, "sleep"), (False, "record-head")])
def test_it_plays_the_episodes_of_the_evaluation_and_where_values_tie_as_the_network(alone: bool, like: str) -> None:
    values: Any = Sleeper(alone)
    returns = play_by_values(values, load_agent("record-head"), "meander", 20, 30, seed=6)
    assert values.asked == [(30, left) for left in range(20, 0, -1)]
    cell = evaluate(load_agent(like), "head", 30, 6, reds=["meander"], lengths=[20]).cells[0]
    assert returns.mean() == pytest.approx(cell.mean)


def test_its_rows_are_what_it_scores_and_nothing_is_lost_to_one_that_sleeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved = []
    monkeypatch.setattr(limit_cells, "action_values", lambda rules, red: solved.append((rules, red)))

    def scored(values: Any, network: Any, red: str, length: int, episodes: int, seed: int) -> NDArray[np.float64]:
        assert network.name == "record-head"
        return np.array([-1.0, -3.0]) * length

    monkeypatch.setattr(limit_cells, "play_by_values", scored)
    run(Arguments(out=tmp_path, kinds=("ceiling",), rules=("head",), episodes=2))
    assert set(solved) == {("head", "bline"), ("head", "meander")}
    rows = stored.load(tmp_path, "limit")["rows"]
    found = {(row["red"], row["length"]): (row["value"], row["margin"], row["episodes"]) for row in rows}
    assert len(rows) == len(found) == 9
    assert found["meander", 30] == (-60.0, pytest.approx(1.96 * 30 / 2**0.5, abs=1e-5), 2)
    assert found["sleep", 100] == (0.0, 0.0, 0)
    assert not any(row["proven"] for row in rows)
