"""Runs that differ only in their seed are one group, drawn as a mean with Student's interval."""

import json
from pathlib import Path

import numpy as np
import pytest

from garrison.report.curves import POINTS, band
from garrison.report.history import REWARD, RunHistory
from garrison.report.run_groups import grouped, with_agents
from garrison.tasks.confidence import mean95
from tests.helpers.written_runs import official_score, write_run


def read(*paths: Path) -> list[RunHistory]:
    return [RunHistory.read(path) for path in paths]


def test_only_runs_that_differ_in_nothing_but_their_seed_are_together(tmp_path: Path) -> None:
    one, two = (write_run(tmp_path / f"small-{seed}", seed=seed, **official_score(-100.0 - seed)) for seed in (1, 2))
    other = write_run(tmp_path / "other", seed=3, steps=99)
    again = write_run(tmp_path / "again", seed=3, steps=99)
    groups = grouped(read(one, other, two, again))
    assert [group.name for group in groups] == ["small (2 seeds)", "other", "again"]
    assert groups[0].score == mean95([-101.0, -102.0])
    assert groups[1].score is None


def test_runs_without_settings_stay_alone(tmp_path: Path) -> None:
    paths = [write_run(tmp_path / name, seed=k) for k, name in enumerate(("a", "b"))]
    for path in paths:
        (path / "config.yaml").write_text("{}")
    assert [group.name for group in grouped(read(*paths))] == ["a", "b"]


def test_a_run_of_several_agents_is_as_many(tmp_path: Path) -> None:
    run = write_run(tmp_path / "jax")
    for seed in (4, 5):
        write_run(run / f"seed-{seed}", seed=seed)
    agents = with_agents(read(run))
    assert [agent.name for agent in agents] == ["jax/seed-4", "jax/seed-5"]
    assert [group.name for group in grouped(agents)] == ["jax (2 seeds)"]


def test_a_band_is_the_mean_and_its_interval_as_far_as_all_have_come(tmp_path: Path) -> None:
    runs = read(
        write_run(tmp_path / "a", slope=1.0, start=0.0, updates=10),
        write_run(tmp_path / "b", slope=2.0, start=0.0, updates=30),
        write_run(tmp_path / "c", slope=6.0, start=0.0, updates=20),
    )
    drawn = band("three", runs, REWARD, 1)
    assert drawn is not None
    assert (drawn.x[0], drawn.x[-1], len(drawn.x)) == (1000.0, 10_000.0, POINTS)
    mean, reach = mean95([10.0, 20.0, 60.0])
    assert (drawn.y[-1], drawn.low[-1], drawn.high[-1]) == pytest.approx((mean, mean - reach, mean + reach))
    assert np.interp(5500.0, drawn.x, [y or 0.0 for y in drawn.y]) == pytest.approx(3.0 * 5.5)


def test_there_is_no_band_of_runs_that_have_nothing_in_common(tmp_path: Path) -> None:
    one, two = write_run(tmp_path / "a"), write_run(tmp_path / "b", updates=3)
    rows = [json.loads(line) for line in (two / "metrics.jsonl").read_text().splitlines()]
    (two / "metrics.jsonl").write_text("".join(json.dumps({**row, "step": row["step"] + 1e6}) + "\n" for row in rows))
    runs = read(one, two)
    assert band("two", runs, REWARD, 1) is None
    assert band("two", runs, "train/unknown", 1) is None
    single = band("one", runs[:1], REWARD, 1)
    assert single is not None
    assert not single.low
