"""The rows of the limit that come from a search."""

import pytest

from garrison.bench.method.limit_rows import LENGTHS, REDS
from garrison.bench.suites.search_scores import score_search


@pytest.mark.long
def test_rows_name_the_budget_and_what_a_decision_took() -> None:
    rows = list(score_search("record-search-head", "head", episodes=2, seed=1, seeds=2, budget="1ms"))
    assert [(row["length"], row["red"]) for row in rows] == [(length, red) for length in LENGTHS for red in REDS]
    assert {row["kind"] for row in rows} == {"search"}
    assert "record-search-head@1ms" in rows[0]["what"]
    assert "ms a decision" in rows[0]["what"]
    assert rows[0]["command"] == "garrison evaluate record-search-head@1ms --episodes 2 --seed 1"
    assert all(row["value"] == 0 for row in rows if row["red"] == "sleep")
