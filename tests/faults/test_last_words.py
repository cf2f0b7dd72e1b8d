"""Processes that die before their work begins: the reason that they printed is in the error."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from garrison.workers import startup_errors

SCRIPT = """
import sys
from garrison.errors import GarrisonError
from garrison.workers.launch import Launch
from garrison.workers.memory import SharedMemory
from garrison.workers.pool import WorkerPool
from garrison.workers.supervisor import Supervisor
from tests.helpers.vector_samples import Sampler
import garrison.vector

if __name__ != "__main__":
    raise ImportError("the shelf is empty")

def work(task, pipes):
    pass

def actors(method):
    pool = WorkerPool(2, Launch(work, method), lambda number, start: number, SharedMemory(), None)
    supervisor = Supervisor(pool, "actor", lambda worker: None)
    while True:
        supervisor.receive(1.0)

def envs(method):
    garrison.vector.make(Sampler, 2, "shared", workers=2, start_method=method)

try:
    {"actors": actors, "envs": envs}[sys.argv[1]](sys.argv[2])
except GarrisonError as error:
    print(error.summary, error.details, sep="|", end="")
print("still heard", file=sys.stderr)
"""


@pytest.mark.parametrize("who", ["actors", "envs"])
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_process_that_dies_in_an_import_says_why(tmp_path: Path, who: str, method: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    variables = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, str(script), who, method]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    summary, details = done.stdout.split("|")
    assert "exit code 1: ImportError: the shelf is empty" in summary
    assert "Traceback" in details
    assert 'raise ImportError("the shelf is empty")' in details
    assert done.stderr == "still heard\n"  # the tracebacks are in the error, and the real standard error is back


TRACEBACK = """Traceback (most recent call last):
  File "<string>", line 1, in <module>
    exitcode = _main(fd, parent_sentinel)
"""


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (f"{TRACEBACK}ImportError: the shelf is empty\n", "ImportError: the shelf is empty"),
        (f"{TRACEBACK}ImportError: the shelf is empty\n{TRACEBACK}", "ImportError: the shelf is empty"),
        (TRACEBACK, "exitcode = _main(fd, parent_sentinel)"),
        ("  out of memory\n", "out of memory"),
    ],
)
def test_the_reason_is_not_the_middle_of_another_ones_traceback(words: str, why: str) -> None:
    assert startup_errors.reason(words) == why


TALKER = """
import sys
import garrison.vector
from tests.helpers.vector_samples import Sampler

class Talker(Sampler):
    def __init__(self):
        super().__init__()
        print("a word of the environment", file=sys.stderr, flush=True)

if __name__ == "__main__":
    garrison.vector.make(Talker, 1, "shared", workers=1, start_method=sys.argv[1]).close()
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_what_environments_print_is_seen(tmp_path: Path, method: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(TALKER)
    variables = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, str(script), method], env=variables, capture_output=True, text=True, check=True
    )
    assert "a word of the environment" in done.stderr
