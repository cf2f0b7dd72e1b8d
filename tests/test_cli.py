"""The command table: help, version and wrong commands."""

import subprocess
import sys

import pytest

from garrison import cli
from garrison.version import __version__


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert __version__ in out
    for name in cli.COMMANDS:
        assert f"  {name}" in out


def test_an_unknown_command_exits_2_and_suggests_the_nearest(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(cli.COMMANDS, "doctor", ("garrison.commands.doctor", ""))
    assert cli.main(["docter"]) == 2
    assert "did you mean doctor?" in capsys.readouterr().err


def test_importing_garrison_loads_nothing_heavy() -> None:
    heavy = ("numba", "torch", "rich", "tyro", "garrison.cage2")
    code = f"import sys, garrison; print([name for name in {heavy} if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_a_reader_that_stops_early_is_no_error() -> None:
    command = f"{sys.executable} -m garrison demo --episodes 5 --length 5 | head -1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("mean reward")
    assert "Traceback" not in done.stderr
