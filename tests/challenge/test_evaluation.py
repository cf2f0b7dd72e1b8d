"""The official evaluation: agreement with the published rows, its arithmetic, its output and its errors."""

import json
import math
from typing import Any

import numpy as np
import pytest

from garrison import cli
from garrison.agents import load_agent
from garrison.cage2 import VectorEnv
from garrison.challenge import leaderboard
from garrison.challenge.evaluation import Cell, Evaluation, evaluate


def run(command: str) -> int:
    return cli.main(command.split())


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
    cells = (Cell("bline", 30, -1.5, 0.3), Cell("sleep", 30, -2.0, 0.4))
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


def test_json_has_exactly_the_promised_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("evaluate random --json --rules leaderboard --episodes 20 --seed 7") == 0
    result = json.loads(capsys.readouterr().out)
    assert list(result) == ["agent", "rules", "episodes", "seed", "cells", "total", "ci95"]
    assert (result["agent"], result["rules"], result["episodes"], result["seed"]) == ("random", "leaderboard", 20, 7)
    assert [list(cell) for cell in result["cells"]] == [["red", "length", "mean", "stderr"]] * 9
    assert [(c["length"], c["red"]) for c in result["cells"][:4]] == [
        (30, "bline"),
        (30, "meander"),
        (30, "sleep"),
        (50, "bline"),
    ]
    assert result["total"] == pytest.approx(sum(cell["mean"] for cell in result["cells"]), abs=1e-4)


def test_text_shows_the_cells_and_the_rows_around_the_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("evaluate react-restore --rules leaderboard --episodes 50") == 0
    out = capsys.readouterr().out
    assert "-27.00 ± 0.00" in out
    lines = out.splitlines()
    mine = next(i for i, line in enumerate(lines) if "==>" in line)
    assert any("UTS_CIBCI" in line for line in lines[:mine])
    assert any("CCS Random" in line for line in lines[mine:])
    assert any("CardiffUni" in line for line in lines[:mine])


def test_other_grids_are_scored_and_not_ranked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("evaluate sleep --red bline,meander --length 7 --episodes 20") == 0
    out = capsys.readouterr().out
    assert "CardiffUni" not in out
    assert "     7" in out


def test_head_results_say_that_the_table_has_other_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("evaluate sleep --episodes 20") == 0
    assert "this agent played under 'head'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("evaluate sleep --rules leadboard", "did you mean 'leaderboard'"),
        ("evaluate sleep --red blime", "did you mean 'bline'"),
        ("evaluate sleep --episodes 1", "at least 2 episodes"),
        ("evaluate sleep --red bline bline", "name each red once"),
        ("evaluate sleep --length 0", "length must lie between"),
        ("evaluate no/such/run", "there is no agent, file or folder"),
    ],
)
def test_wrong_input_is_one_line_with_the_fix(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


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
