"""`garrison.runs.train`: one run from Python, with and without a folder."""

from pathlib import Path

import numpy as np
import pytest

import garrison
from garrison.runs import PRESETS, Experiment, preset, train
from garrison.storage import checkpoint

SETTINGS = {
    "steps": 640,
    "envs": 16,
    "rollout": 10,
    "hidden": (16,),
    "minibatches": 2,
    "epochs": 2,
    "evaluate_episodes": 5,
    "tensorboard": False,
}


def tiny() -> Experiment:
    return preset("ppo-bline").changed(**SETTINGS)


def test_the_presets_and_the_function_are_found_from_the_package() -> None:
    assert {"runs"} <= set(dir(garrison))
    assert {"PRESETS", "preset", "train", "load_experiment"} <= set(dir(garrison.runs))
    assert garrison.runs.preset("record") == PRESETS["record"][1]


def test_progress_is_shown_by_default_and_begins_with_the_preset_and_what_differs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outcome = train(tiny())
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("ppo-bline: against bline, rules leaderboard, 16 envs, 640 steps")
    assert shown[1].startswith("preset ppo-bline, but env.envs: 16,")
    assert any("100.0 %" in line for line in shown)
    assert (outcome.status, outcome.folder) == ("finished", None)
    assert outcome.result is not None
    assert outcome.result.steps == outcome.summary["total_timesteps"] == 640


def test_no_progress_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    train(tiny(), progress=False)
    assert capsys.readouterr().out == ""


def test_a_folder_on_request_has_the_same_run_and_its_score(tmp_path: Path) -> None:
    alone, kept = train(tiny(), progress=False), train(tiny(), tmp_path / "run", progress=False)
    weights = checkpoint.load(tmp_path / "run")["state"]["weights"]
    assert alone.result is not None
    assert np.array_equal(weights, alone.result.policy.flat.numpy())
    assert "evaluation" in kept.summary
    (tmp_path / "again.yaml").write_text((tmp_path / "run" / "config.yaml").read_text())
    again = train(str(tmp_path / "again.yaml"), progress=False)
    assert again.result is not None
    assert np.array_equal(weights, again.result.policy.flat.numpy())


def test_a_run_of_hardly_any_updates_says_that_its_score_means_nothing(tmp_path: Path) -> None:
    few = train(tiny(), progress=False).summary
    assert few["total_updates"] == 4
    assert "only 4 updates of the weights, so the score means nothing yet" in few["warning"]
    assert "warning" not in train(tiny().changed(steps=1600), progress=False).summary
