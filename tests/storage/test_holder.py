"""Who writes to a folder can be asked without being in anybody's way."""

import os
from pathlib import Path

import pytest

from garrison.storage import lock


def test_a_held_folder_names_its_holder_and_others_have_none(tmp_path: Path) -> None:
    assert lock.holder(tmp_path) is None
    with lock.only_writer(tmp_path, ""):
        assert f"process {os.getpid()} on " in (lock.holder(tmp_path) or "")
    assert lock.holder(tmp_path) is None
    (tmp_path / lock.NAME).write_text("left behind by a crash")
    assert lock.holder(tmp_path) is None
    assert lock.holder(tmp_path / "missing") is None


def test_a_writer_waits_for_somebody_who_only_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")
    (tmp_path / lock.NAME).write_text("left behind by a crash")
    looking = (tmp_path / lock.NAME).open()
    fcntl.flock(looking, fcntl.LOCK_SH)
    monkeypatch.setattr(lock, "sleep", lambda seconds: looking.close())
    with lock.only_writer(tmp_path, ""):
        assert lock.holder(tmp_path) is not None
