"""Scores are read as a run writes them."""

import json
from pathlib import Path

from garrison.sweeps.evaluations import Evaluations


def row(**values: float) -> str:
    return json.dumps({"step": 1, "time/elapsed_time": 1.0, **values}) + "\n"


def test_scores_come_in_their_order_and_lines_that_are_being_written_later(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    follow = Evaluations(path)
    assert follow.look() == []
    path.write_text(row(a=1.0) + row(**{"evaluation/total": -5.0}) + '{"step": 2, "evaluation/to')
    assert follow.look() == [-5.0]
    with path.open("a") as file:
        file.write('tal": -4.0}\n' + row(**{"evaluation/mean": 3.0}) + "not json evaluation/\n")
    assert follow.look() == [-5.0, -4.0, 3.0]
    assert follow.look() == [-5.0, -4.0, 3.0]


def test_a_run_that_went_back_to_its_checkpoint_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text(row(**{"evaluation/mean": 1.0}) + row(**{"evaluation/mean": 2.0}))
    follow = Evaluations(path)
    assert follow.look() == [1.0, 2.0]
    path.write_text(row(**{"evaluation/mean": 1.0}))
    assert follow.look() == [1.0]
