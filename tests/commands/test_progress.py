"""The line that says what is being done."""

import sys

import pytest

from garrison.commands.progress import CLEAR, progress


def test_a_terminal_sees_each_text_in_the_place_of_the_last(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress() as say:
        say("first")
        say("a text that is longer than the terminal is wide")
    assert capsys.readouterr().err == f"{CLEAR}first{CLEAR}a text that is long{CLEAR}"


def test_a_file_gets_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as say:
        say("first")
    assert capsys.readouterr().err == ""
