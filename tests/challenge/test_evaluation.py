"""The official evaluation: agreement with the published rows, its arithmetic, its output and its errors."""

import math
from typing import Any

import numpy as np
import pytest

from garrison.agents import load_agent
from garrison.cage2 import VectorEnv
from garrison.challenge import leaderboard
from garrison.challenge.evaluation import CellScore, Evaluation, evaluate

EPISODES = 4000  # four times the protocol's: the published interval is then the wider part of the comparison


@pytest.mark.parametrize(("name", "rank"), [("sleep", 20), ("random", 19), ("react-restore", 18)])
def test_scripted_agents_agree_with_the_published_rows(name: str, rank: int) -> None:
    row = leaderboard.leaderboard()[rank - 1]
    result = evaluate(load_agent(name), "leaderboard", EPISODES, seed=153)
    assert result.is_official
    assert abs(result.total - row.total) <= math.hypot(result.ci95, row.ci95)
    for cell in result.cells:
        # Nine cells at once: 3.5 standard errors each. The published error is ours at 1000 episodes; means are rounded.
        error = math.hypot(cell.stderr, cell.stderr * math.sqrt(EPISODES / 1000))
        assert abs(cell.mean - row.cell(cell.red, cell.length)) <= 3.5 * error + 0.01, cell


def test_react_restore_costs_exactly_its_restores_when_red_sleeps() -> None:
    result = evaluate(load_agent("react-restore"), "leaderboard", 2, reds=["sleep"])
    assert [cell.mean for cell in result.cells] == [-27.0, -46.0, -92.0]


def test_a_cell_depends_on_seed_attacker_and_length_only() -> None:
    whole = evaluate(load_agent("sleep"), episodes=50, seed=4)
    part = evaluate(load_agent("sleep"), episodes=50, seed=4, reds=["meander"], lengths=[50])
    assert part.cells == tuple(c for c in whole.cells if (c.red, c.length) == ("meander", 50))
    other = evaluate(load_agent("sleep"), episodes=50, seed=5)
    assert all(a.mean != b.mean for a, b in zip(whole.cells, other.cells, strict=True) if a.red != "sleep")


def test_no_two_episodes_have_the_same_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    reset, seeds = VectorEnv.reset, []

    def watched(self: VectorEnv, *, seed: list[int]) -> Any:
        seeds.extend(seed)
        return reset(self, seed=seed)

    monkeypatch.setattr(VectorEnv, "reset", watched)
    for seed in (0, 1):
        evaluate(load_agent("sleep"), episodes=100, seed=seed)
    assert len(seeds) == len(set(seeds)) == 1800


def test_episodes_of_neighbouring_seeds_are_not_the_same_episodes() -> None:
    means = [
        evaluate(load_agent("sleep"), episodes=10, seed=s, reds=["meander"], lengths=[100]).total for s in range(8)
    ]
    assert len(set(means)) == 8


def test_the_total_adds_means_and_the_interval_adds_variances() -> None:
    cells = (CellScore("bline", 30, -1.5, 0.3), CellScore("sleep", 30, -2.0, 0.4))
    result = Evaluation("x", "head", 10, 0, cells)
    assert result.total == -3.5
    assert result.ci95 == pytest.approx(1.96 * 0.5)
    assert not result.is_official


def test_standard_errors_are_those_of_the_mean() -> None:
    few = evaluate(load_agent("sleep"), episodes=200, reds=["meander"], lengths=[50]).cells[0].stderr
    many = evaluate(load_agent("sleep"), episodes=3200, reds=["meander"], lengths=[50]).cells[0].stderr
    assert few / many == pytest.approx(4.0, rel=0.2)
    means = [evaluate(load_agent("sleep"), "head", 50, s, ["meander"], [50]).total for s in range(60)]
    assert np.std(means) == pytest.approx(many * math.sqrt(3200 / 50), rel=0.3)


def test_ranks_follow_the_table() -> None:
    assert leaderboard.rank_of(-54.0) == 1
    assert leaderboard.rank_of(-100.0) == 14
    assert leaderboard.rank_of(-9999.0) == 21
    assert len(leaderboard.leaderboard()) == 20


def test_marks_mix_the_cells_of_the_attackers() -> None:
    marks = leaderboard.marks({"bline": 0.5, "meander": 0.5}, 100)
    assert marks["the winner"] == pytest.approx((-13.76 - 16.60) / 2)
    assert marks["random"] == pytest.approx((-726.92 - 566.41) / 2)
    assert leaderboard.marks({"bline": 1.0}, 77) == {}


def test_known_scores_are_those_of_the_task_and_of_no_other() -> None:
    assert leaderboard.marks({"bline": 0.5, "meander": 0.5}, 100)["the winner"] < -10
    assert leaderboard.marks({"bline": 1.0}, 99) == {}
    assert leaderboard.marks({}, 100) == {}
