"""One run of a sweep: begun, continued, only scored, or failed, as its folder asks for."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from garrison.runs.folder import RunFolder
from garrison.runs.presets import preset
from garrison.storage.lock import only_writer
from garrison.sweeps.one_run import HELD, Job, do
from garrison.sweeps.sweep_plan import Setting
from garrison.sweeps.sweep_runs import SweepRun

TINY = {"steps": 64, "envs": 2, "rollout": 8, "hidden": (8,), "tensorboard": False, "page": False, "epochs": 1}


def job(path: Path, **changes: Any) -> Job:
    experiment = preset("ppo-cartpole").changed(**TINY | {"evaluate_episodes": 2} | changes)
    return Job(experiment.to_dict(), "mine", str(path), [0], [])


def state(path: Path) -> str:
    return SweepRun(Setting(0, {}), 0, path).look().state


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("one") / "run"
    assert state(path) == "waiting"
    assert do(job(path)) == 0
    return path


def test_a_new_run_is_trained_and_scored(finished: Path) -> None:
    assert state(finished) == "finished"
    assert "mean" in RunFolder(finished).read_summary()["evaluation"]


def test_a_run_that_was_killed_before_its_score_is_only_scored(finished: Path) -> None:
    folder = RunFolder(finished)
    summary, metrics = folder.read_summary(), folder.metrics.read_text()
    score = summary.pop("evaluation")
    folder.summary.write_text(json.dumps(summary))
    assert state(finished) == "stopped"
    assert do(job(finished)) == 0
    assert folder.read_summary()["evaluation"] == score
    assert folder.metrics.read_text() == metrics
    assert state(finished) == "finished"


def test_a_run_that_was_killed_before_its_first_checkpoint_begins_anew(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.write_settings("half: written\n")
    folder.metrics.write_text('{"step": 3, "time/elapsed_time": 1.0}\n')
    assert state(tmp_path) == "waiting"
    assert do(job(tmp_path, evaluate_episodes=0)) == 0
    assert [row["step"] for row in folder.read_metrics()] == [16, 32, 48, 64]
    assert state(tmp_path) == "finished"


def test_a_failure_stays_in_the_folder_until_the_next_attempt(tmp_path: Path) -> None:
    for name in ("NoSuchEnv-v0", "NeitherThis-v0"):
        wrong = job(tmp_path, evaluate_episodes=0)
        assert do(replace(wrong, experiment=wrong.experiment | {"env": {"env": name, "envs": 2}})) == 1
        look = SweepRun(Setting(0, {}), 0, tmp_path).look()
        assert look.state == "failed"
        assert name.partition("-")[0] in look.message
        assert name.partition("-")[0] in (tmp_path / "error.txt").read_text()
    assert do(job(tmp_path, evaluate_episodes=0)) == 0
    assert state(tmp_path) == "finished"
    assert not (tmp_path / "error.txt").exists()


def test_a_run_that_somebody_writes_is_left_alone(tmp_path: Path) -> None:
    with only_writer(tmp_path, ""):
        assert do(job(tmp_path)) == HELD
    assert list(tmp_path.iterdir()) == []
