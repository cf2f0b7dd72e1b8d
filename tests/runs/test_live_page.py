"""The page of a run in training: live while it goes, final at its end, honest when it was killed."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from garrison import cli
from garrison.report.history import RunHistory
from garrison.report.run_state import KILLED, RUNNING, state_of
from garrison.runs import marks, page_rhythm
from garrison.runs.start import train
from tests.helpers.processes import HANG, eventually

SMALL = "--envs 2 --rollout 8 --hidden 8 --no-tensorboard --quiet"
CARTPOLE = f"train ppo-cartpole {SMALL} --steps 64 --evaluate-episodes 2"


def run(command: str) -> int:
    return cli.main(command.split())


def test_an_ended_run_has_a_page_that_stays_as_it_is(tmp_path: Path) -> None:
    assert run(f"{CARTPOLE} --out {tmp_path / 'run'}") == 0
    page = (tmp_path / "run" / "index.html").read_text()
    assert ">finished<" in page
    assert "mean return, scored" in page
    assert "<script" not in page
    assert "actions/0" in (tmp_path / "run" / "metrics.jsonl").read_text()


def test_a_cage2_run_leaves_episodes_to_watch_and_counts_kinds_of_actions(tmp_path: Path) -> None:
    assert run(f"train ppo-mixed {SMALL} --steps 64 --evaluate-episodes 3 --out {tmp_path / 'run'}") == 0
    assert 'href="./watch.html"' in (tmp_path / "run" / "index.html").read_text()
    assert "worst of 3" in (tmp_path / "run" / "watch.html").read_text()
    row = json.loads((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[0])
    kinds = [name for name in row if name.startswith("actions/")]
    assert kinds == [f"actions/{kind}" for kind in ("Sleep", "Analyse", "Remove", "Decoy", "Restore")]


def test_no_page_means_none(tmp_path: Path) -> None:
    assert run(f"train ppo-mixed {SMALL} --steps 64 --evaluate-episodes 3 --no-page --out {tmp_path / 'run'}") == 0
    assert not list((tmp_path / "run").glob("*.html"))


def test_from_python_a_run_has_its_page_too(tmp_path: Path) -> None:
    from garrison.runs.presets import preset

    settings = preset("ppo-cartpole").changed(steps=64, envs=2, rollout=8, evaluate_episodes=0)
    train(settings, tmp_path / "with", progress=False)
    train(settings.changed(page=False), tmp_path / "without", progress=False)
    assert (tmp_path / "with" / "index.html").exists()
    assert not (tmp_path / "without" / "index.html").exists()


def test_a_page_that_cannot_be_drawn_is_told_once_and_the_run_ends_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(page_rhythm, "_writer", "garrison.report.run_page:missing")
    assert run(f"{CARTPOLE} --out {tmp_path / 'run'}") == 0
    said = capsys.readouterr().err
    assert said.count("the run's page could not be written (AttributeError") == 1
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["status"] == "finished"


def test_settings_that_are_refused_leave_no_page(tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert run(f"train ppo-mixed {SMALL} --steps 64 --backend serial --out {out}") == 2
    assert not out.exists()


def test_a_killed_run_leaves_a_page_that_grows_old_and_is_known_as_killed(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = f"train ppo-cartpole {SMALL} --duration 1h --checkpoint-every 0.1 --out {out}".split()
    child = subprocess.Popen([sys.executable, "-m", "garrison", *command])
    try:
        assert eventually(lambda: (out / "index.html").exists() and RunHistory.glance(out, 9).updates > 1)
        assert eventually(lambda: "last return" in (out / "index.html").read_text())
        assert state_of(RunHistory.glance(out, 9)).word == RUNNING
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait(HANG)
    page = (out / "index.html").read_text()
    assert ">running<" in page
    assert "No news since" in page  # hidden until the script finds that the page is old
    assert state_of(RunHistory.glance(out, 9)).word == KILLED
    assert cli.main(["runs", str(tmp_path), "--pages"]) == 0
    page = (out / "index.html").read_text()
    assert ">killed<" in page
    assert f"garrison train --resume {out}" in page
    assert "<script" not in page
    steps = RunHistory.glance(out, 9).steps
    assert run(f"train --resume {out} --duration= --steps {steps + 64} --quiet") == 0
    assert [mark.what for mark in marks.read_marks(out) if mark.what in marks.PARTS] == ["started", "resumed"]
    assert "resumed" in (out / "index.html").read_text()
