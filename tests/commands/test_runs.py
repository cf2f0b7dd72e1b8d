"""`garrison runs`: the list on the terminal, as JSON and as a page."""

import json
from pathlib import Path

import pytest

from garrison import cli
from tests.helpers.written_runs import official_score, write_run


def test_it_lists_the_runs_and_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / "one", **official_score())
    write_run(tmp_path / "two", status="")
    assert cli.main(["runs", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["run", "state", "steps", "score", "last", "return", "trained", "begun"]
    assert sorted(line.split()[:2] for line in lines[1:3]) == [["one", "finished"], ["two", "killed"]]
    assert lines[-1] == str(tmp_path / "index.html")
    assert "<table>" in (tmp_path / "index.html").read_text()


def test_the_default_is_the_folder_of_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["runs"]) == 2
    assert "there is no folder runs" in capsys.readouterr().err
    write_run(tmp_path / "runs" / "one", **official_score())
    assert cli.main(["runs", "--json", "--out", "elsewhere/list.html"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert {key: row[key] for key in ("run", "state", "steps", "score", "ci95")} == {
        "run": "one",
        "state": "finished",
        "steps": 20_000,
        "score": -123.4,
        "ci95": 1.5,
    }
    assert (tmp_path / "elsewhere" / "list.html").exists()
    assert not (tmp_path / "runs" / "index.html").exists()


def test_pages_are_written_for_runs_that_have_none_and_links_lead_there(tmp_path: Path) -> None:
    path = write_run(tmp_path / "runs" / "one", status="")
    assert cli.main(["runs", str(tmp_path / "runs"), "--pages", "--out", str(tmp_path / "list.html")]) == 0
    assert ">killed<" in (path / "index.html").read_text()
    assert 'href="./runs/one/index.html"' in (tmp_path / "list.html").read_text()


def test_what_is_no_folder_of_runs_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["runs", str(tmp_path)]) == 2
    assert f"there is no run in {tmp_path}" in capsys.readouterr().err
    run = write_run(tmp_path / "one")
    (run / "index.html").write_text("its own")
    assert cli.main(["runs", str(run)]) == 2
    assert "is a run" in capsys.readouterr().err
    assert (run / "index.html").read_text() == "its own"
