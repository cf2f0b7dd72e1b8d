"""`garrison race`: presets and files are trained for equal times and compared."""

import json
from pathlib import Path

import pytest

from garrison import cli
from garrison.report.history import RunHistory

QUICK = ["--envs", "4", "--rollout", "16", "--no-tensorboard"]


@pytest.mark.long
def test_presets_and_files_are_trained_for_the_same_time_and_compared(tmp_path: Path) -> None:
    settings = tmp_path / "mine.yaml"
    settings.write_text("env: {env: CartPole-v1, backend: serial}\nppo: {gamma: 0.5}")
    out = tmp_path / "out"
    arguments = ["ppo-cartpole", str(settings), "--duration", "1s", "--out", str(out)]
    assert cli.main(["race", *arguments, "--", *QUICK, "--seed", "3"]) == 0
    table = json.loads((out / "comparison.json").read_text())
    assert [row["run"] for row in table] == ["ppo-cartpole", "mine"]
    assert [row["seed"] for row in table] == [3, 3]
    for row in table:
        assert row["status"] == "finished"
        assert row["env"] == "CartPole-v1"
        assert row["seconds"] >= 1.0  # without the duration it would go on to the end of time
    page = (out / "comparison.html").read_text()
    assert "--duration 1s" in page
    learned = RunHistory.read(out / "mine").metrics("train/")
    assert {"train/policy_loss", "train/value_loss", "train/entropy"} <= set(learned)
    assert page.count("<svg") == 2 * 2 + 2 + len(learned)  # both curves of the return are drawn for phones as well
    assert ">mine<" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ppo-cartpole"], "--duration 10m"),
        (["ppo-cartpol", "--duration", "1s"], "did you mean 'ppo-cartpole'"),
        (["ppo-cartpole", "--duration", "soon"], "90s, 10m or 1.5h"),
        (["none/at/all", "--duration", "1s"], "does not exist; name folders of runs, presets"),
        (["ppo-cartpole", "ppo-cartpole", "--duration", "1s"], "named twice"),
        (["none.yaml", "--duration", "1s"], "cannot read the settings"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_trained(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert cli.main(["race", *arguments, "--out", str(out)]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_wrong_flags_for_the_training_are_told_and_nothing_is_compared(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["ppo-cartpole", "--duration", "1s", "--out", str(tmp_path / "out")]
    assert cli.main(["race", *arguments, "--", "--lerning-rate", "1"]) == 2
    said = capfd.readouterr().err
    assert "--learning-rate" in said
    assert "training ppo-cartpole failed" in said


def test_compare_with_a_duration_is_a_race_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", "ppo-cartpol", "--duration", "1s", "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "training first is now called garrison race" in said
    assert "did you mean 'ppo-cartpole'" in said


def test_compare_alone_says_how_to_train_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", "ppo-cartpole"]) == 2
    assert "To train first: garrison race ppo-cartpole --duration 10m." in capsys.readouterr().err


def test_a_race_of_finished_runs_is_a_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["race", str(tmp_path), "--duration", "1s"]) == 2
    assert "put them side by side with garrison compare" in capsys.readouterr().err


def write_run(path: Path, red: str, learning_rate: float, ended: bool = True) -> Path:
    path.mkdir()
    settings = {
        "env": {"env": "garrison/CAGE2-v0", "red": red, "rules": "head", "length": 100},
        "run": {"out": str(path)},
    }
    settings["ppo"] = {"learning_rate": learning_rate, "gamma": 0.9, "policy": {"hidden": [8, 8]}}
    (path / "config.yaml").write_text(json.dumps(settings))
    row = {"step": 10, "time/elapsed_time": 1.0, "rollout/ep_reward_mean": -5.0, "time/fps": 10.0}
    (path / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    if ended:
        task = {"red_odds": {red: 1.0}, "rules": "head", "length": 100}
        (path / "summary.json").write_text(json.dumps({"status": "finished", "env": "garrison/CAGE2-v0", "task": task}))
    return path


def test_what_differs_is_said_first_and_what_cannot_be_compared_is_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [
        write_run(tmp_path / "one", "bline", 0.1),
        write_run(tmp_path / "two", "bline", 0.2),
        write_run(tmp_path / "three", "meander", 0.1, ended=False),  # still going: only its settings tell
    ]
    assert cli.main(["compare", *map(str, runs), "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("These runs solve different problems (red)")
    first, _, below = said.partition("\nrun ")
    assert [line.split() for line in first.splitlines() if line.startswith(("env.red", "learner"))] == [
        ["env.red", "bline", "bline", "meander"],
        ["learner.learning_rate", "0.1", "0.2", "0.1"],
    ]
    assert "gamma" not in said
    assert "run.out" not in said
    assert "three (other red)" in below
    assert "two (other" not in below
    page = (tmp_path / "out" / "comparison.html").read_text()
    assert page.index("What differs") < page.index("Facts")
    assert "learner.learning_rate" in page
    assert page.count("three (other red)") > 3  # in the table and in the legend of each curve
    assert [row["run"] for row in json.loads((tmp_path / "out" / "comparison.json").read_text())] == [
        "one",
        "two",
        "three",
    ]


def test_equal_settings_are_not_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [write_run(tmp_path / name, "bline", 0.1) for name in ("one", "two")]
    assert cli.main(["compare", *map(str, runs), "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "differ" not in said
    assert "(other" not in said
