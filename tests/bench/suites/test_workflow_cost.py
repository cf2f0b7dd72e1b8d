"""`garrison bench sim --workflow`: every variant takes its turns, beside a control, and the result is kept apart."""

import json
from pathlib import Path

import pytest

from garrison.bench.suites import workflow_cost


def test_variants_take_turns_and_the_result_is_kept_where_no_page_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(workflow_cost, "_STEPS", 1000)
    workflow_cost.run(quick=True, out=tmp_path)
    assert "none, again" in capsys.readouterr().out
    rows = json.loads((tmp_path / "workflow" / "cost.json").read_text())["results"]
    assert [row["labels"]["workflow"] for row in rows] == list(workflow_cost.VARIANTS)
    assert rows[0]["ratio"] == 1.0
    assert all(row["low"] <= row["ratio"] <= row["high"] and row["steps_per_second"] > 0 for row in rows)
    assert not list(tmp_path.glob("*.json"))
