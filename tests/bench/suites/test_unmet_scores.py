"""Defenders against attackers that they never met: `garrison bench limit --kinds unmet`."""

from pathlib import Path

import pytest

from garrison.bench.publish import stored
from garrison.bench.publish.unmet_tables import unmet_cells
from garrison.bench.suites import limit_cells
from garrison.bench.suites.limit_cells import Arguments, run
from garrison.bench.suites.unmet_attackers import UNMET
from garrison.bench.suites.unmet_scores import unmet_scores


def test_scores_are_made_once_and_shown_as_a_table() -> None:
    first = list(unmet_scores(["sleep"], "head", 4, 1))
    assert [score["attacker"] for score in first] == list(UNMET)
    assert not list(unmet_scores(["sleep"], "head", 4, 1, first))
    assert len(list(unmet_scores(["sleep"], "head", 4, 1, first[2:]))) == 2
    header, rows = unmet_cells(first)
    assert header == ["attacker", "sleep, head"]
    assert [row[0] for row in rows] == list(UNMET)
    assert rows[0][1] == f"{first[0]['value']:.1f} ± {first[0]['margin']:.1f}"
    assert unmet_cells([*first, {**first[1], "defender": "other"}])[1][0][2] == ""


def test_the_command_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = dict(list(UNMET.items())[:1])
    monkeypatch.setattr("garrison.bench.suites.unmet_scores.UNMET", some)
    asked = Arguments(out=tmp_path, kinds=("unmet",), rules=("head",), episodes=4)
    assert run(asked) == 0
    (one, *others) = stored.load(tmp_path, "limit-unmet")["rows"]
    defenders = ["record-head", "record-belief-head", "react-restore", "sleep"]
    assert [one["defender"], *(score["defender"] for score in others)] == defenders
    monkeypatch.setattr(limit_cells, "unmet_scores", lambda *args: iter(()))
    run(asked)
    assert stored.load(tmp_path, "limit-unmet")["rows"] == [one, *others]
