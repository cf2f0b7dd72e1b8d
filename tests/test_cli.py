"""The command table: help, version and wrong commands; and how each kind of failure ends."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from garrison import cli
from garrison.errors import GarrisonError, UserError
from garrison.version import __version__


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert __version__ in out
    for name in cli.COMMANDS:
        assert f"  {name}" in out


def test_an_unknown_command_exits_2_and_suggests_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
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


# --- how failures end


class EnvBroke(GarrisonError, RuntimeError):
    """A failure of somebody's environment, with fields of its own."""

    def __init__(self, index: int, what: str, details: str) -> None:
        super().__init__(f"environment {index} raised {what}.", hint="Call reset().", details=details)
        self.index = index

    def __str__(self) -> str:
        return f"{super().__str__()}\n\n{self.details}"  # for those who see a Python traceback


Failing = Callable[[BaseException], int]


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Failing:
    """Runs a command that raises."""

    def run(error: BaseException) -> int:
        def main(arguments: list[str]) -> int:
            raise error

        module: Any = ModuleType("failing")
        module.main = main
        monkeypatch.setitem(sys.modules, "failing", module)
        monkeypatch.setitem(cli.COMMANDS, "fail", ("failing", "fails"))
        return cli.main(["fail"])

    return run


def test_wrong_input_is_one_line_and_exit_code_2(fail: Failing, capsys: pytest.CaptureFixture[str]) -> None:
    assert fail(UserError("length must be positive; got 0.", hint="Use --length 100.")) == 2
    assert capsys.readouterr().err == "garrison fail: length must be positive; got 0. Use --length 100.\n"


def test_a_failure_with_details_names_the_file_that_has_them(
    fail: Failing, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert fail(EnvBroke(3, "ValueError: dragons", "Traceback\n  here be dragons")) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first == "garrison fail: environment 3 raised ValueError: dragons. Call reset()."
    (file,) = tmp_path.iterdir()
    assert second == f"The details are in {file}"
    assert file.name.startswith("garrison-fail-")
    assert file.read_text() == "Traceback\n  here be dragons\n"


def test_details_that_a_run_has_kept_are_not_written_twice(
    fail: Failing, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    error = EnvBroke(3, "ValueError: dragons", "Traceback")
    error.details_file = Path("runs/mine/error.txt")
    assert fail(error) == 1
    assert capsys.readouterr().err.splitlines()[1] == "The details are in runs/mine/error.txt"
    assert not list(tmp_path.iterdir())


def test_details_that_fit_nowhere_are_printed(
    fail: Failing, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    assert fail(EnvBroke(3, "ValueError: dragons", "Traceback\n  here be dragons")) == 1
    assert capsys.readouterr().err.splitlines()[1:] == ["Traceback", "  here be dragons"]


def test_a_file_that_cannot_be_written_is_a_sentence(
    fail: Failing, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert fail(OSError(28, "No space left on device", "runs/x/metrics.jsonl")) == 1
    first, _ = capsys.readouterr().err.splitlines()
    assert first == "garrison fail: No space left on device: runs/x/metrics.jsonl"
    (file,) = tmp_path.iterdir()
    assert "Traceback (most recent call last)" in file.read_text()


@pytest.mark.parametrize("error", [KeyError("order"), OSError("no file was named")])
def test_a_bug_of_ours_keeps_its_traceback_and_says_so(error: Exception, fail: Failing) -> None:
    with pytest.raises(type(error)) as caught:
        fail(error)
    assert caught.value.__notes__ == [f"garrison fail: {cli.BUG}"]


def test_the_note_of_a_bug_is_printed_below_the_traceback() -> None:
    code = "from garrison import cli; cli.COMMANDS['fail'] = ('no.such.module', ''); cli.main(['fail'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0].startswith("Traceback")
    assert lines[-1] == f"garrison fail: {cli.BUG}"


def test_ctrl_c_is_exit_code_130(fail: Failing, capsys: pytest.CaptureFixture[str]) -> None:
    assert fail(KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == "garrison fail: interrupted\n"


def test_a_terminal_gets_whole_words_and_a_pipe_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "garrison train: " + "word " * 30 + "/a/long/path-that-must-stay-whole/" + "x" * 80
    assert cli.wrapped(line) == line
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    *most, path = cli.wrapped(line).splitlines()
    assert max(map(len, most)) < 60
    assert path.endswith("x" * 80)
    assert " ".join([*most, path]) == line
