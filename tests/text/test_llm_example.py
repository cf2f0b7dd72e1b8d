"""The loop in examples/llm_defender.py; tests/test_examples.py runs it without an endpoint."""

import runpy
from pathlib import Path

import pytest

from tests.helpers.chat_players import careless
from tests.helpers.chat_server import chat_server

EXAMPLE = Path(__file__).parents[2] / "examples" / "llm_defender.py"


def test_a_model_defends_in_the_example(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with chat_server(careless) as server:
        monkeypatch.setattr("sys.argv", [str(EXAMPLE), server.url, "m"])
        runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 31
    assert lines[-1] == f"total {float(lines[-2].split()[-1]):.1f}"
    assert len(server.asked) > 30  # some were refused
