"""`garrison sweep`: what the command line becomes, what it refuses, and a real sweep with a failing run."""

import json
from pathlib import Path
from typing import Any

import pytest

import garrison
from garrison import cli
from garrison.commands import sweep
from garrison.runs.presets import preset
from garrison.sweeps import scheduler, sweeping
from garrison.sweeps.one_run import Job
from garrison.sweeps.sweep_plan import load_plan
from tests.helpers.scripted_runs import ScriptedSlots


def by_epochs(job: Job) -> list[float]:
    return [float(job.experiment["ppo"]["epochs"])]


@pytest.fixture
def slots(monkeypatch: pytest.MonkeyPatch) -> ScriptedSlots:
    """Let every run be written in the place of being trained."""
    made = ScriptedSlots(by_epochs)
    monkeypatch.setattr(sweeping, "LocalSlots", lambda *arguments: made)
    monkeypatch.setattr(scheduler, "PAUSE", 0.0)
    return made


def test_flags_of_train_hold_for_every_run_and_the_same_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slots: ScriptedSlots, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["sweep", "ppo-cartpole", "--steps", "99", "--seeds", "2", "--grid", "ppo.epochs=2,5", "ppo.gamma=0.9"]
    assert cli.main(words) == 0
    folder = tmp_path / "sweeps" / "ppo-cartpole"
    assert load_plan(folder / "sweep.yaml").experiment == preset("ppo-cartpole").changed(steps=99)
    assert len(slots.started) == 4
    said = capsys.readouterr().out
    assert "garrison train sweeps/ppo-cartpole/best.yaml" in said
    assert "epochs" in (folder / "index.html").read_text()
    assert cli.main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["values"] == {"ppo.epochs": 5, "ppo.gamma": 0.9}
    assert cli.main(["sweep", "sweeps/ppo-cartpole", "--merge"]) == 0
    assert len(slots.started) == 4
    assert cli.main(["sweep", "ppo-cartpole", "--grid", "ppo.epochs=2,6"]) == 2
    assert "the sweep in sweeps/ppo-cartpole has" in capsys.readouterr().err


def test_a_file_says_the_same_as_flags_and_flags_change_it(tmp_path: Path, slots: ScriptedSlots) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("preset: ppo-cartpole\nsweep: {seeds: 3, grid: {ppo.epochs: [2, 5]}}\nppo: {steps: 99}\n")
    assert (
        cli.main(["sweep", str(file), "--seeds", "1", "--gamma", "0.5", "--quiet", "--out", str(tmp_path / "a")]) == 0
    )
    plan = load_plan(tmp_path / "a" / "sweep.yaml")
    assert plan.config.seeds == 1
    assert plan.experiment == preset("ppo-cartpole").changed(steps=99, gamma=0.5)
    garrison.sweep(str(file), tmp_path / "b", seeds=1, progress=False)
    assert load_plan(tmp_path / "b" / "sweep.yaml").config == plan.config
    experiment = preset("ppo-cartpole").changed(steps=99)
    swept = garrison.sweep(experiment, tmp_path / "c", grid={"ppo.epochs": [2, 5]}, progress=False)
    assert load_plan(tmp_path / "c" / "sweep.yaml").config == plan.config
    assert (swept.state, swept.exit_code) == ("finished", 0)
    assert swept.results.best is not None
    assert swept.results.best.values == {"ppo.epochs": 5}


def test_a_search_from_python(tmp_path: Path, slots: ScriptedSlots) -> None:
    options: dict[str, Any] = {"search": "optuna", "space": {"ppo.epochs": "1..9"}, "trials": 6, "sampler": "random"}
    swept = garrison.sweep("ppo-cartpole", tmp_path / "found", progress=False, **options)
    assert swept.state == "finished"
    assert len(swept.results.settings) == 6
    best = swept.results.best
    assert best is not None
    assert best.values["ppo.epochs"] == max(s.values["ppo.epochs"] for s in swept.results.settings if s.score)
    assert "Score of each trial" in (tmp_path / "found" / "index.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "name what to train"),
        ("ppo-cartpole", "say what to vary"),
        ("ppo-cartpole --seeds 2 --resume x", "leave out --resume"),
        ("ppo-cartpole --grid ppo.epochs", "takes NAME=VALUES"),
        ("ppo-cartpole --grid ppo.epochs=1 ppo.epochs=2", "names ppo.epochs twice"),
        ("no-such --seeds 2", "unknown preset"),
        ("FOLDER", "there is no sweep in"),
        ("FOLDER --seeds 2", "leave out --seeds"),
        ("ppo-cartpole --seeds 2 --out FOLDER/full", "is there, and no sweep"),
        ("ppo-cartpole --seeds 2 --jobs -1", "--jobs must be 0"),
        ("ppo-cartpole --seeds 2 --task 2", "there is no task 2"),
    ],
)
def test_what_it_refuses(
    words: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "something").touch()
    assert cli.main(["sweep", *words.replace("FOLDER", str(tmp_path)).split()]) == 2
    assert said in capsys.readouterr().err


def test_its_own_flags_are_those_of_its_arguments() -> None:
    assert {"--seeds", "--grid", "--no-json", "--help"} <= sweep.flags()
    assert "--steps" not in sweep.flags()


def test_a_flag_of_nobody_is_refused_by_the_parser_of_train(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["sweep", "ppo-cartpole", "--seeds", "2", "--stepz", "3"])
    assert "--stepz" in capsys.readouterr().err


def test_a_database_of_ones_own_has_a_study_of_its_own(tmp_path: Path, slots: ScriptedSlots) -> None:
    options: dict[str, Any] = {"search": "optuna", "space": {"ppo.epochs": "1..9"}, "trials": 1, "progress": False}
    options["storage"] = f"sqlite:///{tmp_path}/shared.db"
    for name in ("a", "b", "a"):
        garrison.sweep("ppo-cartpole", tmp_path / name, **options)
    plans = [load_plan(tmp_path / name / "sweep.yaml") for name in ("a", "b")]
    assert plans[0].config.study != plans[1].config.study
    assert slots.started == ["0000-seed-0", "0000-seed-0"]
    assert not (tmp_path / "a" / "study.db").exists()
