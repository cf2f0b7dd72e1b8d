"""The defender that sees everything: what it is asked, which episodes it plays, and its rows."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from garrison.agents import load_agent
from garrison.bench.publish import stored
from garrison.bench.suites import limit_cells
from garrison.bench.suites.limit_cells import Arguments, run
from garrison.bench.suites.truth_player import play_by_values
from garrison.challenge.evaluation import evaluate


class Sleeper:
    """Knows no values: always says Sleep."""

    game = SimpleNamespace(red="meander", rules="head")

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    def best_actions(self, states: NDArray[np.void], left: int) -> NDArray[np.int64]:
        assert (states["t"] + left == 20).all()
        self.asked.append((len(states), left))
        return np.zeros(len(states), np.int64)


def test_it_plays_the_episodes_of_the_evaluation_and_is_asked_with_the_steps_that_are_left() -> None:
    referee: Any = Sleeper()
    returns = play_by_values(referee, 20, 30, seed=6)
    assert referee.asked == [(30, left) for left in range(20, 0, -1)]
    cell = evaluate(load_agent("sleep"), "head", 30, 6, reds=["meander"], lengths=[20]).cells[0]
    assert returns.mean() == pytest.approx(cell.mean)


def test_its_rows_are_what_it_scores_and_nothing_is_lost_to_one_that_sleeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explored = []
    monkeypatch.setattr(limit_cells, "explore_game", lambda rules, red, steps: explored.append((rules, red)))
    monkeypatch.setattr(limit_cells, "value_table", lambda game, steps: steps)
    monkeypatch.setattr(limit_cells, "Referee", lambda game, table: table)
    scored = lambda referee, length, episodes, seed: np.array([-1.0, -3.0]) * length  # noqa: E731
    monkeypatch.setattr(limit_cells, "play_by_values", scored)
    run(Arguments(out=tmp_path, kinds=("ceiling",), rules=("head",), episodes=2))
    assert explored == [("head", "bline"), ("head", "meander")]
    rows = stored.load(tmp_path, "limit")["rows"]
    found = {(row["red"], row["length"]): (row["value"], row["margin"], row["episodes"]) for row in rows}
    assert len(rows) == len(found) == 9
    assert found["meander", 30] == (-60.0, pytest.approx(1.96 * 30 / 2**0.5, abs=1e-5), 2)
    assert found["sleep", 100] == (0.0, 0.0, 0)
    assert not any(row["proven"] for row in rows)
