"""The record's table: who passed rank 1, and when."""

import json
from pathlib import Path
from typing import Any

import pytest

from garrison.bench.publish.ablation_tables import ablation_page, ablation_table
from garrison.bench.publish.stored import load
from garrison.bench.publish.training_tables import record_table
from garrison.report.page import Page


def run(preset: str, seed: int, passed: float | None, rules: str = "leaderboard") -> dict[str, Any]:
    evaluation = {"rules": rules, "total": -43.0 - seed, "ci95": 0.1, "episodes": 10, "seed": 1}
    times = {"1": passed, "10": passed}
    return {"preset": preset, "seed": seed, "seconds": 60.0, "evaluation": evaluation} | {
        "passed": times,
        "passed_steps": dict.fromkeys(times, None if passed is None else 1000000.0),
    }


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (60.0, "rank 1 was passed after 30 s (median; at the latest 60 s)."),
        (None, "`record`: median -44.00, worst -45.00 of 3 seeds. "),
    ],
)
def test_the_time_to_rank_1_is_told_where_every_seed_has_passed_it(tmp_path: Path, last: Any, said: str) -> None:
    runs = [run("record", 0, 20.0), run("record", 1, 30.0), run("record", 2, last), run("record-head", 0, 1.0, "head")]
    result = {"machine": {"cores": 2}, "method": {"command": "garrison bench record"}, "runs": runs}
    (tmp_path / "record.json").write_text(json.dumps(result))
    table = record_table(tmp_path)
    assert said in table
    assert "`record-head`: median -43.00, worst -43.00 of 1 seeds. From scratch" in table
    assert table.count("other rules") == 2
    assert table.count("not passed") == (0 if last else 2)


def test_an_ablation_is_told_by_its_median_and_its_worst_seed(tmp_path: Path) -> None:
    runs = [
        run("record", seed, 1.0) | {"variant": v, "steps": 2e6} for v in ("everything", "no x") for seed in range(3)
    ]
    for each in runs:
        each["evaluation"]["cells"] = [{"red": "bline", "mean": -2.0 - each["seed"]}, {"red": "bline", "mean": -1.0}]
    (tmp_path / "record-ablation.json").write_text(
        json.dumps({"machine": {}, "method": {"command": "c"}, "runs": runs})
    )
    table = ablation_table(tmp_path)
    assert "| `record`, no x | -44.00 | -45.00 | -43.00 | -4.00 | 0.00 |" in table
    assert "of 3 seeds each, 2.0 million steps" in table
    page = Page("x")
    ablation_page(page, load(tmp_path, "record-ablation"))
    assert "<td>-44.00</td>" in page.html().replace(' class="right"', "")
