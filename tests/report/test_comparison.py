"""`garrison compare` with things to train."""

import json
from pathlib import Path

import pytest

from garrison import cli
from garrison.runs.experiment import load_experiment

QUICK = ["--envs", "4", "--rollout", "16", "--no-tensorboard"]


def test_presets_and_files_are_trained_for_the_same_time_and_compared(tmp_path: Path) -> None:
    settings = tmp_path / "mine.yaml"
    settings.write_text("env: {env: CartPole-v1, backend: serial}\nppo: {gamma: 0.5}")
    out = tmp_path / "out"
    arguments = ["ppo-cartpole", str(settings), "--duration", "1s", "--out", str(out)]
    assert cli.main(["compare", *arguments, "--", *QUICK, "--seed", "3"]) == 0
    table = json.loads((out / "comparison.json").read_text())
    assert [row["run"] for row in table] == ["ppo-cartpole", "mine"]
    assert [row["seed"] for row in table] == [3, 3]
    for row in table:
        assert row["status"] == "finished"
        assert row["env"] == "CartPole-v1"
        assert row["seconds"] >= 1.0
        assert load_experiment(out / row["run"] / "config.yaml").run.duration == "1s"
    page = (out / "comparison.html").read_text()
    assert "--duration 1s" in page
    assert page.count("<svg") == 7
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
    assert cli.main(["compare", *arguments, "--out", str(out)]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_wrong_flags_for_the_training_are_told_and_nothing_is_compared(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["ppo-cartpole", "--duration", "1s", "--out", str(tmp_path / "out")]
    assert cli.main(["compare", *arguments, "--", "--lerning-rate", "1"]) == 2
    said = capfd.readouterr().err
    assert "--learning-rate" in said
    assert "training ppo-cartpole failed" in said
