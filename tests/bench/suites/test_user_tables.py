"""The users' tables: each figure of theirs is answered by measured rows, and ratios are ours over theirs."""

import json
from pathlib import Path
from typing import Any

import pytest

from garrison import cli
from garrison.bench.method.fresh import Configuration
from garrison.bench.publish import user_rows
from garrison.bench.suites import user_figures, user_tables
from garrison.bench.suites.coinrun_speed import IN_SEQUENCE, IN_WORKERS


@pytest.fixture(autouse=True)
def without_cyborg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_tables.importlib.util, "find_spec", lambda name: None)  # it takes seconds to start


def measured(quick: bool) -> list[dict[str, Any]]:
    return [c.labels for c in (*user_tables.stepping(quick), *user_tables.training(quick))]


def test_every_figure_is_answered_by_measured_rows() -> None:
    every = measured(quick=False)
    sides = [side for figure in user_figures.FIGURES for side in (figure.same_way, figure.native) if side]
    wanted = [labels for side in sides for labels in (side if isinstance(side, tuple) else (side,))]
    assert [labels for labels in wanted if labels not in every] == []
    assert [labels for labels in measured(quick=True) if labels not in every] == []


def test_names_differ_and_every_table_of_the_users_is_there() -> None:
    rows = [*user_tables.stepping(False), *user_tables.training(False)]
    assert len({c.name for c in rows}) == len(rows)
    sizes = {c.arguments["num_envs"] for c in rows if c.labels.get("way") == "shared memory"}
    assert sizes == {1, 10, 20, 25, 50, 100, 200}
    assert all(old.source.split(",")[0] in user_figures.MACHINES for old in user_figures.FIGURES)


def test_ratios_are_ours_over_theirs_with_their_interval() -> None:
    def row(labels: dict[str, Any], rate: float, noise: float) -> dict[str, Any]:
        samples = [{"steps": rate * factor, "wall_seconds": 1.0} for factor in (1 - noise, 1.0, 1 + noise) * 3]
        return {"labels": labels, "samples": samples, "partner": None, "steady": noise < 0.1}

    rows = [
        row(user_figures.way("pipes", 20), 33_910.0, 0.02),
        row(user_figures.way("native", 20), 3_391_000.0, 0.5),
        row(IN_WORKERS, 1500.0, 0.0),
        row(IN_SEQUENCE, 1000.0, 0.0),
    ]
    tables = user_tables.compare(rows, (*user_figures.FIGURES, *user_figures.COINRUN_FIGURES))
    pipes = next(t for t in tables if t["table"] == user_figures.TWENTY and t["what"] == "pipes")
    assert user_rows.theirs(pipes) == "3,391"
    assert user_rows.ours(pipes, "same_way") == ("33.9 k ± 2.0%", "10")
    assert user_rows.ours(pipes, "native")[0] == "1.7 M to 5.09 M"
    assert [line.is_wide for line in user_rows.beside([pipes])] == [True]
    sequence, workers, ratio = (t for t in tables if t["table"] == user_figures.CLUSTER_PPO)
    assert user_rows.theirs(sequence) == "1,500 to 2,000"
    assert user_rows.ours(sequence, "same_way") == ("1 k ± 0.0%", "0.571")
    assert [line.is_wide for line in user_rows.beside([workers, ratio])] == [False, False]
    assert user_rows.ours(workers, "native") == ("", "")
    assert user_rows.ours(ratio, "same_way")[0] == "1.5 ± 0.0%"
    assert user_rows.theirs(ratio) == "0.035 to 0.053"


def test_a_figure_of_an_older_version_has_no_interval_and_is_never_quoted() -> None:
    figure = {"value": 50_200.0, "steady": True}
    row = {"table": "t", "what": "w", "theirs": [3391, 3391], "is_ratio": False, "same_way": figure, "native": None}
    (line,) = user_rows.beside([row])
    assert line == (("t", "w", "3,391", "50.2 k", "14.8", "", ""), True, 0)


@pytest.mark.long
def test_the_command_measures_compares_and_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("pipes", "shared memory", "native")
    cells = [c for c in user_tables.stepping(False) if c.labels["envs"] == 20 and c.labels["way"] in few]
    trainer = Configuration(
        user_figures.ppo("serial", 1), "garrison.bench.suites.simulators:single"
    )  # stands in for one: no torch
    monkeypatch.setattr(user_tables, "stepping", lambda quick: cells)
    monkeypatch.setattr(user_tables, "training", lambda quick: [trainer])
    assert (
        cli.main(["bench", "users", "--part", "cage2", "--repeats", "1", "--seconds", "0.03", "--out", str(tmp_path)])
        == 0
    )
    printed = capsys.readouterr().out
    for figure in ("pipes", "shared memory", "sequential, 1 environment"):
        assert figure in printed
    stored = json.loads((tmp_path / "users.json").read_text())
    assert [r["error"] for r in stored["results"]] == [None] * 4
    assert [len(r["samples"]) for r in stored["results"]] == [1] * 4
    page = (tmp_path / "index.html").read_text()
    assert "OPTIMIZATION_RESULTS.md" in page
    assert "200 environments" not in page  # nothing of that table was measured
