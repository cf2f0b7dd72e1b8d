"""Two processes and one run's folder: the second is told who writes there, and readers are not kept out."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from garrison import cli
from garrison.report.history import RunHistory
from garrison.storage import checkpoint, lock
from tests.helpers.processes import HANG, eventually

LONG = "--duration 1h --envs 2 --rollout 8 --hidden 8 --checkpoint-every 0.1 --no-tensorboard --quiet"
SHORT = "--steps 32 --envs 2 --rollout 8 --hidden 8 --no-tensorboard --quiet"


@contextmanager
def training(arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen([sys.executable, "-m", "garrison", "train", *arguments.split()])
    try:
        yield child
    finally:
        child.kill()
        child.wait(HANG)


def test_the_second_writer_is_told_who_holds_the_run_and_readers_read_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    with training(f"ppo-cartpole --out {out} {LONG}") as first:
        assert eventually((out / checkpoint.NAME).exists)
        for second in (f"--resume {out}", f"ppo-cartpole --out {out} {SHORT}"):
            assert cli.main(["train", *second.split()]) == 2
        resumed, anew = (line for line in capfd.readouterr().err.splitlines() if line.startswith("garrison train"))
        assert f"{out} is being written by process {first.pid} on " in resumed
        assert "Wait for it or stop it" in resumed
        assert f"there is a run in {out}" in anew
        assert RunHistory.read(out).steps > 0
        first.send_signal(signal.SIGKILL)
        first.wait(HANG)
    assert (out / lock.NAME).exists()  # it could not be removed, and locks nothing
    steps = checkpoint.load(out)["state"]["steps"]
    assert cli.main(["train", "--resume", str(out), "--duration", "", "--steps", str(steps + 16)]) == 0
    assert not (out / lock.NAME).exists()


def test_a_folder_that_is_being_made_is_held_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    out.mkdir()
    with lock.only_writer(out, "Wait."):
        assert cli.main(f"train ppo-cartpole --out {out} {SHORT}".split()) == 2
    assert f"{out} is being written by process {os.getpid()} on " in capsys.readouterr().err
    assert list(out.iterdir()) == []


def test_runs_that_begin_in_the_same_second_get_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from garrison.runs import folder

    class Noon(folder.datetime):
        @classmethod
        def now(cls, tz: object = None) -> "Noon":
            return cls(2026, 1, 1, 12)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(folder, "datetime", Noon)
    names = {folder.RunFolder.fresh("", "ppo").path.name for _ in range(3)}
    assert names == {"ppo-20260101-120000", "ppo-20260101-120000-2", "ppo-20260101-120000-3"}


def test_where_there_are_no_locks_a_sentence_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with lock.only_writer(tmp_path, "Wait."):
        pass
    assert "let no other process write to it" in capsys.readouterr().err
