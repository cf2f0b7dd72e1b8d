"""A run whose environment fails: one or two sentences on the screen, the traceback in the folder, a summary."""

import json
from pathlib import Path

import pytest

from garrison import cli
from garrison.errors import GarrisonError
from garrison.runs import session
from garrison.runs.folder import RunFolder
from garrison.storage import checkpoint

SETTINGS = """
env:
  env: tests.helpers.faulty_envs:Faulty
  env_args: {{fault: {fault}}}
  envs: 2
  backend: {backend}
  workers: {workers}
run: {{tensorboard: false}}
{learner}: {{steps: 1000, rollout: 8, compute: autograd, policy: {{hidden: [8]}}{more}}}
"""


def settings(
    tmp_path: Path, backend: str = "serial", learner: str = "ppo", fault: str = "raise", more: str = ""
) -> list[str]:
    file = tmp_path / "mine.yaml"
    workers = 1 if backend == "shared" else 0
    file.write_text(SETTINGS.format(backend=backend, learner=learner, fault=fault, workers=workers, more=more))
    return ["train", str(file), "--quiet", "--out", str(tmp_path / "run")]


@pytest.mark.parametrize(
    ("backend", "learner", "more"),
    [
        ("serial", "ppo", ""),
        ("shared", "ppo", ""),
        ("serial", "impala", ", actors: 1"),
        ("serial", "impala", ", actors: 0"),
    ],
)
def test_an_environment_that_raises_ends_as_sentences_with_the_traceback_in_a_file(
    backend: str, learner: str, more: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(settings(tmp_path, backend, learner, more=more)) == 1
    said = capfd.readouterr().err.splitlines()
    file = tmp_path / "run" / "error.txt"
    assert "Traceback" not in "".join(said)
    assert said[-1] == f"The details are in {file}"
    assert said[-2].startswith("garrison train: ")
    assert "the dragon woke up" in said[-2]
    text = file.read_text()
    assert "Traceback (most recent call last)" in text
    assert "_misbehave" in text
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["status"] == "failed"
    assert "the dragon woke up" in summary["message"]
    assert "Traceback" not in summary["message"]


def test_a_worker_that_dies_ends_the_same_way(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(settings(tmp_path, "shared", fault="die")) == 1
    *_, first, second = capfd.readouterr().err.splitlines()
    assert first.startswith("garrison train: ")
    assert second == f"The details are in {tmp_path / 'run' / 'error.txt'}"
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["status"] == "failed"


def test_an_environment_that_cannot_be_made_leaves_no_folder(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(settings(tmp_path, fault="raise in making")) == 1
    assert "no such scenario" in capfd.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_run_that_goes_on_forgets_the_failure_of_its_earlier_part(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    error = GarrisonError("a worker died.", details="in the night")
    assert folder.write_error(error) == tmp_path / "error.txt"
    assert "in the night" in folder.error.read_text()
    folder.write_settings("")
    assert not folder.error.exists()


def test_a_bug_of_ours_keeps_its_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def learn(*arguments: object) -> None:
        raise KeyError("ours")

    monkeypatch.setattr(session, "train", learn)
    with pytest.raises(KeyError, match="ours"):
        cli.main(settings(tmp_path, fault=""))
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["message"] == "KeyError: 'ours'"
    assert not (tmp_path / "run" / "error.txt").exists()
    assert not (tmp_path / "run" / checkpoint.NAME).exists()
