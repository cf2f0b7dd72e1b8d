"""Marks say what happened in a run and when; what is no mark is left out."""

from datetime import datetime
from pathlib import Path

from garrison.runs import marks


def test_marks_are_read_as_they_were_written(tmp_path: Path) -> None:
    marks.add_mark(tmp_path, marks.STARTED, 0, 0.0)
    marks.add_mark(tmp_path, marks.SAID, 10, 1.23456, "it rains: \u2028 <b>")
    first, second = marks.read_marks(tmp_path)
    assert (first.what, first.step, first.seconds, first.text) == ("started", 0, 0.0, "")
    assert (second.step, second.seconds, second.text) == (10, 1.235, "it rains: \u2028 <b>")
    assert datetime.fromisoformat(second.time).tzinfo is not None


def test_what_is_no_mark_is_left_out(tmp_path: Path) -> None:
    assert marks.read_marks(tmp_path) == []
    marks.add_mark(tmp_path, marks.SAVED, 5, 1.0)
    with (tmp_path / marks.FILE).open("ab") as file:
        file.write(b'\xff\xfe\n{"what": 1}\n[]\n{"what": "best", "step": "x", "seconds": 0, "time": "2026-01-01"}\n')
        file.write(b'{"what": "best", "step": 1, "seconds": 0, "time": "noon"}\n{"what": "be')
    assert [mark.what for mark in marks.read_marks(tmp_path)] == [marks.SAVED]


def test_a_resumed_run_forgets_the_checkpoints_that_it_makes_again(tmp_path: Path) -> None:
    marks.trim_marks(tmp_path, 10)  # nothing to trim
    for what, step in ((marks.STARTED, 0), (marks.SAVED, 10), (marks.SAVED, 20), (marks.BEST, 20), (marks.SAID, 20)):
        marks.add_mark(tmp_path, what, step, 0.0)
    marks.trim_marks(tmp_path, 10)
    assert [(mark.what, mark.step) for mark in marks.read_marks(tmp_path)] == [
        (marks.STARTED, 0),
        (marks.SAVED, 10),
        (marks.SAID, 20),
    ]


def test_a_folder_that_cannot_be_written_costs_only_the_mark(tmp_path: Path) -> None:
    marks.add_mark(tmp_path / "gone", marks.STARTED, 0, 0.0)
