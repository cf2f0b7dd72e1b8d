"""Files that are whole or not there: a full disk is one sentence, and nothing is left half-written."""

import errno
import os
from pathlib import Path

import pytest

from garrison import cli
from garrison.storage.atomic import write_text

ROW = '{"step": 10, "time/elapsed_time": 1.0, "rollout/ep_reward_mean": -5.0, "time/fps": 10.0, "train/loss": 1.0}\n'


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    path.mkdir()
    (path / "config.yaml").write_text("{}")
    (path / "metrics.jsonl").write_text(ROW * 3)
    return path


@pytest.mark.parametrize("command", ["compare", "plot"])
def test_a_full_disk_is_one_sentence_and_leaves_the_old_file(
    command: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert cli.main([command, str(run), "--out", str(out)]) == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    capsys.readouterr()
    assert cli.main([command, str(run), "--out", str(out)]) == 1
    said = capsys.readouterr().err
    assert f"garrison {command}: No space left on device: {out}" in said
    assert "Traceback" not in said
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("command", ["compare", "plot"])
def test_a_file_in_the_place_of_the_folder_is_one_sentence(
    command: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").write_text("mine")
    assert cli.main([command, str(run), "--out", str(tmp_path / "out" / "deeper")]) == 1
    assert "Traceback" not in capsys.readouterr().err
    assert (tmp_path / "out").read_text() == "mine"


def test_a_failed_write_names_its_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere") as caught:
        write_text(tmp_path / "nowhere" / "file", "text")
    assert caught.value.filename == str(tmp_path / "nowhere" / "file")


def test_everything_that_people_keep_is_written_whole() -> None:
    package = Path(cli.__file__).parent
    answers = {"profile/child.py", "bench/method/fresh_process.py"}  # of a child to the process that started it
    allowed = {"storage/atomic.py", *answers}
    found = {
        str(file.relative_to(package))
        for file in package.rglob("*.py")
        if any(word in file.read_text() for word in (".write_text(", ".savefig(path", '.open("w"'))
    }
    assert found <= allowed
