"""A run tells its trackers everything and goes on whatever they do."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from garrison import cli
from garrison.runs import continue_run, preset, train
from garrison.storage import checkpoint
from tests.helpers import own_trackers
from tests.helpers.own_trackers import Noting

OWN = own_trackers.__name__
SETTINGS: dict[str, Any] = {
    "steps": 320,
    "envs": 16,
    "rollout": 10,
    "hidden": (8,),
    "minibatches": 2,
    "epochs": 1,
    "evaluate_episodes": 2,
    "tensorboard": False,
    "page": False,
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    settings = preset("ppo-bline").changed(**SETTINGS, evaluate_every=320, track_checkpoint=True)
    train(settings, out, progress=False, trackers=[Noting(), own_trackers.LogFails()])
    return out


def test_a_tracker_is_told_settings_versions_metrics_totals_and_the_score(finished: Path) -> None:
    told = next(each for each in Noting.runs if each.run.folder == finished)
    assert told.run.name == "ppo-bline"
    assert told.run.config["env"]["red"] == "bline"
    assert told.run.versions["garrison"]
    written = [json.loads(line) for line in (finished / "metrics.jsonl").read_text().splitlines()]
    assert [{"step": step, **metrics} for step, metrics in told.rows] == written
    assert "evaluation/total" in written[-1]
    assert told.end == json.loads((finished / "summary.json").read_text())
    assert "total" in told.end["evaluation"]
    assert told.checkpoint == finished / "checkpoint.garrison"


def test_a_tracker_that_fails_is_a_mark_of_the_run_and_changes_nothing(finished: Path, tmp_path: Path) -> None:
    assert f"the tracker {OWN}:LogFails failed" in (finished / "marks.jsonl").read_text()
    train(preset("ppo-bline").changed(**SETTINGS), tmp_path / "alone", progress=False)
    alone, tracked = (checkpoint.load(out)["state"]["weights"] for out in (tmp_path / "alone", finished))
    np.testing.assert_array_equal(alone, tracked)


def test_a_resumed_run_goes_on_in_the_same_tracked_run(finished: Path) -> None:
    told = Noting()
    outcome = continue_run(finished, progress=False, trackers=[told], steps=480, evaluate_episodes=0)
    assert outcome.status == "finished"
    assert (told.run.known_as, told.run.first_step) == ("first", 320)
    assert [step for step, _ in told.rows] == [480]
    assert told.checkpoint == finished / "checkpoint.garrison"


def test_a_command_names_trackers_and_a_flag_replaces_those_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(f"preset: ppo-bline\nrun: {{trackers: ['{OWN}:StartFails']}}\n")
    tiny = "--steps 160 --envs 16 --rollout 10 --hidden 8 --evaluate-episodes 0 --no-tensorboard --no-page --quiet"
    named = f"--tracker {OWN}:Noting --tracker {OWN}:FinishFails"
    assert cli.main(f"train {tmp_path}/mine.yaml --out {tmp_path}/run {tiny} {named}".split()) == 0
    assert Noting.runs[-1].end["status"] == "finished"
    assert Noting.runs[-1].checkpoint is None
    assert "StartFails" not in (tmp_path / "run" / "config.yaml").read_text()


def test_a_run_without_a_folder_is_tracked_too() -> None:
    told = Noting()
    train(preset("ppo-bline").changed(**SETTINGS), progress=False, trackers=[told])
    assert [step for step, _ in told.rows] == [160, 320]
    assert told.end["status"] == "finished"
    assert told.run.folder is None


def test_a_run_that_fails_tells_its_trackers(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Noting()
    monkeypatch.setattr("garrison.runs.follower.Follower.show", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        train(preset("ppo-bline").changed(**SETTINGS), progress=False, trackers=[told])
    assert (told.end["status"], told.end["message"]) == ("failed", "ZeroDivisionError: division by zero")
