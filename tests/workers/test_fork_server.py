"""What a caller that is killed leaves in the folder for temporary files: nothing."""

import os
import subprocess
import sys
import tempfile
from multiprocessing import forkserver
from pathlib import Path

import pytest

import garrison.vector
from garrison.workers import fork_server
from tests.helpers.processes import eventually
from tests.helpers.vector_samples import Sampler

SCRIPT = """
import os, signal, sys
import garrison.vector
from garrison.workers import fork_server
from tests.helpers.vector_samples import Sampler

if __name__ == "__main__":
    envs = garrison.vector.make(Sampler, 2, "shared", workers=2, start_method="forkserver")
    envs.reset(seed=0)
    print(os.listdir(os.environ["TMPDIR"]), flush=True)
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_the_folder_of_the_fork_server_goes_with_a_killed_caller(tmp_path: Path, name: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    folder = Path(tempfile.mkdtemp())  # a socket's path must be short
    root = str(Path(__file__).parents[2])
    variables = {**os.environ, "TMPDIR": str(folder), "PYTHONPATH": root}
    done = subprocess.run(
        [sys.executable, str(script), name], env=variables, capture_output=True, text=True, check=False
    )
    assert "pymp-" in done.stdout, done.stderr  # there was one
    assert eventually(lambda: not list(folder.iterdir()))
    folder.rmdir()


def test_a_server_that_ends_before_its_caller_is_quite_gone_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parents = iter([7, 7, 1])  # the files of a dying process are closed before its children get another parent
    monkeypatch.setattr(os, "getppid", lambda: next(parents))
    folder = tmp_path / "pymp"
    folder.mkdir()
    fork_server._remove(str(folder), caller=7)
    assert not folder.exists()


def test_another_fork_server_can_take_the_place_of_one_that_ended() -> None:
    def play() -> None:
        envs = garrison.vector.make(Sampler, 2, "shared", workers=2, start_method="forkserver")
        envs.reset(seed=0)
        envs.close()

    play()
    forkserver._forkserver._stop()  # type: ignore[attr-defined]
    play()
