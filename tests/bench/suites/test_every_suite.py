"""`garrison bench all`: a bench that fails costs only itself, and an interrupt leaves what is finished."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from garrison import cli, system
from garrison.bench.suites import SUITES, every_suite
from garrison.errors import UserError
from tests.helpers.processes import HANG, gone

ROOT = Path(__file__).parents[3]
# Two benches: one is done at once, the other measures something that never ends.
SCRIPT = """
import sys
from pathlib import Path
from dataclasses import dataclass
from garrison import cli
from garrison.bench.method.fresh import Configuration
from garrison.bench.method.measure import measure
from garrison.bench.method.rounds import Rounds
from garrison.bench.publish.keep import keep
from garrison.bench.suites import SUITES

@dataclass(frozen=True)
class Arguments:
    stuck: bool = False

def run(arguments):
    milliseconds = 60_000 if arguments.stuck else 1
    row = Configuration({"who": "row"}, "tests.helpers.bench_workloads:nap", {"milliseconds": milliseconds})
    result = measure([row], Rounds(1), seconds=0.05, warm_up=0.0)
    keep(Path(sys.argv[1]), "stuck" if arguments.stuck else "done", result.record())
    return 0

run(Arguments())
print("measuring", flush=True)
SUITES["fake"] = ("__main__", "")
sys.exit(cli.main(["bench", "fake", "--stuck"]))
"""


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_an_interrupt_leaves_what_is_finished_and_no_process(tmp_path: Path, number: int, code: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    while process.stdout.readline() != b"measuring\n":
        pass
    while len(below := system.process_tree(process.pid)) < 2:
        time.sleep(0.02)
    process.send_signal(number)
    assert process.wait(HANG) == code
    process.stdout.close()
    assert gone(below[1:])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["done.json", "index.html"]


def test_one_bench_that_fails_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = []

    def run(name: str, arguments: list[str]) -> int:
        ran.append((name, arguments))
        return {"vector": 3, "train": UserError.exit_code}.get(name, 0)

    monkeypatch.setattr(every_suite, "run_suite", run)
    assert cli.main(["bench", "all", "--quick", "--out", str(tmp_path), "--leave-out", "record"]) == 1
    assert ran == [(name, ["--out", str(tmp_path), "--quick"]) for name in SUITES if name != "record"]
    error = capsys.readouterr().err
    assert "garrison bench vector ended with code 3" in error
    assert "garrison bench train cannot run here" in error
    assert "failed: vector\n" in error


def test_a_bench_of_the_suite_is_a_command_of_its_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert every_suite.run_suite("page", [str(tmp_path)]) == 2
    assert "no results in" in capfd.readouterr().err
    assert cli.main(["bench", "all", "--leave-out", "vectr"]) == 2
    assert "did you mean 'vector'" in capfd.readouterr().err


def test_every_bench_takes_the_common_options(capsys: pytest.CaptureFixture[str]) -> None:
    for name in SUITES:
        with pytest.raises(SystemExit):
            cli.main(["bench", name, "--help"])
        told = capsys.readouterr().out
        assert "--quick" in told
        assert "--out" in told
