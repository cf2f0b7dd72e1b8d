"""The record's bench: when ranks are passed, what is shipped, and one small run through the command."""

import json
import subprocess
from pathlib import Path

import pytest

from garrison import cli
from garrison.agents import load_agent
from garrison.agents.ship import ship
from garrison.bench.publish import record_figure
from garrison.bench.suites import record_runs
from garrison.challenge.evaluation import evaluate
from garrison.errors import UserError
from garrison.storage import checkpoint


def test_a_rank_is_passed_when_the_curve_stays_above_it() -> None:
    totals = [-3500.0, -100.0, -50.0, -60.0, -53.0, -52.0]
    curve = [{"seconds": 10.0 * k, "step": k, "total": total} for k, total in enumerate(totals)]
    times = record_runs.passed(curve)
    assert times["20"] == 10.0  # the sleeper, -3112.20
    assert times["1"] == 40.0  # -54.57: above at 20 s, below again at 30 s
    assert record_runs.passed(curve[:4])["1"] is None
    assert record_runs.passed(curve, "step")["1"] == 4


@pytest.mark.long
@pytest.mark.slow
def test_the_command_trains_and_draws_and_its_run_can_be_shipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--presets", "record", "--seeds", "1", "--steps", "200000", "--every", "100000", "--episodes", "30"]
    folders = ["--out", str(tmp_path / "out"), "--keep", str(tmp_path / "runs")]
    assert cli.main(["bench", "record", *arguments, *folders]) == 0
    assert "record, seed 0:" in capsys.readouterr().out
    (run,) = json.loads((tmp_path / "out" / "record.json").read_text())["runs"]
    assert len(run["curve"]) >= 1
    assert (tmp_path / "out" / "record.png").stat().st_size > 10_000
    ship(tmp_path / "runs" / "record-0", tmp_path / "record.garrison")
    shipped = checkpoint.load(tmp_path / "record.garrison")
    assert set(shipped["state"]) == {"weights", "steps"}
    assert shipped["made_by"] == "garrison train record --seed 0 --evaluate-every 100000 --steps 200000"
    assert shipped["evaluation"]["episodes"] == 1000
    assert (run["evaluation"]["episodes"], run["evaluation"]["seed"]) == (30, record_runs.FRESH_SEED)
    score = evaluate(load_agent(str(tmp_path / "record.garrison")), episodes=30, seed=record_runs.FRESH_SEED)
    assert score.total == pytest.approx(run["evaluation"]["total"], abs=1e-5)


def test_a_run_that_was_broken_off_is_begun_again_and_one_that_fails_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = tmp_path / "record-3-belief"
    half.mkdir()
    (half / "config.yaml").write_text("half a run")
    begun_with = []

    def fail(words: list[str], check: bool) -> subprocess.CompletedProcess[str]:
        begun_with.append((half.exists(), words[-3:]))
        return subprocess.CompletedProcess(words, 3)

    monkeypatch.setattr(record_runs.subprocess, "run", fail)
    with pytest.raises(UserError, match=r"garrison train record --seed 3 .*--belief --steps 9 ended with 3"):
        record_runs.train("record", 3, record_runs.Arguments(steps=9), tmp_path, ["--belief"])
    assert begun_with == [(False, ["--belief", "--steps", "9"])]


def test_a_run_that_was_broken_off_while_it_was_scored_is_scored_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = tmp_path / "record-3"
    trained.mkdir()
    (trained / "summary.json").write_text('{"status": "finished"}')  # as it stands until the run has its score
    rows = [{"step": 9, "time/elapsed_time": 2.0, "evaluation/total": -60.0}, {"step": 12, "time/elapsed_time": 3.0}]
    (trained / "metrics.jsonl").write_text("\n".join(map(json.dumps, rows)))
    monkeypatch.setattr(record_runs.subprocess, "run", lambda *_, **__: pytest.fail("trained again"))
    monkeypatch.setattr(record_runs, "load_agent", lambda folder: load_agent("sleep"))
    made = record_runs.train("record", 3, record_runs.Arguments(episodes=2), tmp_path, [])
    assert (made["steps"], made["seconds"]) == (12, 3.0)
    assert made["curve"] == [{"step": 9, "seconds": 2.0, "total": -60.0}]
    assert made["evaluation"]["episodes"] == 2


def test_the_winner_is_drawn_beside_runs_under_its_rules_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = []
    monkeypatch.setattr(record_figure.figure_style, "save", lambda figure, path: figures.append(figure) or path)
    curve = [{"seconds": 60.0 * k, "step": 1e6 * k, "total": -90.0 + 5 * k} for k in range(5)]
    runs = [{"preset": p, "curve": curve, "evaluation": {"rules": r}} for p, r in (("a", "leaderboard"), ("b", "head"))]
    record_figure.draw(runs, tmp_path / "record.png")
    texts = [" ".join(text.get_text() for text in axis.texts) for axis in figures[0].axes]
    assert ["winner" in text for text in texts] == [True, True, False, False]
    assert [len(axis.get_lines()) for axis in figures[0].axes] == [2, 2, 1, 1]
