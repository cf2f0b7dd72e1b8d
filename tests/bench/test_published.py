"""The README's numbers are the published results' numbers."""

from pathlib import Path

import pytest

from garrison.bench import published
from garrison.errors import UserError

ROOT = Path(__file__).parents[2]


def test_the_readme_agrees_with_the_published_results() -> None:
    text = (ROOT / "README.md").read_text()
    assert published.fill(text, ROOT / "benchmarks") == text, "run: python -m garrison.bench.published"


def test_every_table_has_its_place() -> None:
    with pytest.raises(UserError, match="no place for the table 'sim'"):
        published.fill("# Garrison\n", ROOT / "benchmarks")


def test_a_wide_spread_is_shown_as_a_range() -> None:
    samples = [{"steps": s, "wall_seconds": 1.0} for s in (1000, 2000, 4000)]
    row = {"spread": 0.3, "steps_per_second": 2000.0, "samples": samples}
    assert published.rate(row) == "1 k to 4 k"
    assert published.rate({**row, "spread": 0.04}) == "2 k ± 2%"
