"""What is published about the limit fits together: nobody is above a bound."""

import json
from pathlib import Path

import pytest

from garrison.bench.method.limit_rows import CELLS, cell_of, find_row

ROOT = Path(__file__).parents[2]
ROWS = json.loads((ROOT / "benchmarks" / "limit.json").read_text())["rows"]


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row["kind"] != "bound"],
    ids=lambda row: "-".join(map(str, (row["kind"], *cell_of(row)))),
)
def test_no_score_is_above_its_bound(row: dict[str, object]) -> None:
    bound = find_row(ROWS, "bound", cell_of(row))
    assert bound is not None
    assert bound["proven"]
    assert row["value"] <= bound["value"]


def test_every_cell_has_a_bound_and_the_longer_episode_the_lower_one() -> None:
    bounds = {cell: find_row(ROWS, "bound", cell) for cell in CELLS}
    assert all(bounds.values())
    for rules, red, _ in CELLS:
        values = [bounds[rules, red, length]["value"] for length in (30, 50, 100)]
        assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("rules", ["leaderboard", "head"])
def test_the_readme_tells_the_totals(rules: str) -> None:
    total = sum(row["value"] for row in ROWS if (row["kind"], row["rules"]) == ("bound", rules))
    assert f"{total:.2f} under" in (ROOT / "README.md").read_text()
