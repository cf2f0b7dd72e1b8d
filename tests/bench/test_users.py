"""The users' tables: each figure of theirs is answered by measured rows, and ratios are ours over theirs."""

import json
from pathlib import Path

import pytest

from garrison import cli
from garrison.bench import old_figures, users
from garrison.bench.measure import Configuration


@pytest.fixture(autouse=True)
def without_cyborg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users.importlib.util, "find_spec", lambda name: None)  # it takes seconds to start


def named(quick: bool) -> set[str]:
    return {c.name for c in (*users.stepping(quick), *users.training(quick))}


def test_every_figure_is_answered_by_measured_rows() -> None:
    wanted = {
        name
        for old in old_figures.FIGURES
        for side in (old.same_way, old.native)
        for name in ((side,) if isinstance(side, str) else side or ())
    }
    assert wanted <= named(quick=False)
    assert named(quick=True) <= named(quick=False)


def test_names_differ_and_every_table_of_the_users_is_there() -> None:
    rows = [*users.stepping(False), *users.training(False)]
    assert len({c.name for c in rows}) == len(rows)
    sizes = {(c.arguments["num_envs"]) for c in users.stepping(False) if c.name.startswith("shared memory")}
    assert sizes == {1, 10, 20, 25, 50, 100, 200}
    assert all(old.source.split(",")[0] in old_figures.MACHINES for old in old_figures.FIGURES)


def test_ratios_are_ours_over_theirs_and_unsteady_ones_are_marked() -> None:
    def row(rate: float, spread: float | None) -> dict[str, float | None]:
        return {"steps_per_second": rate, "spread": spread}

    rows = {
        old_figures.way("pipes", 20): row(33_910.0, 0.02),
        old_figures.way("native", 20): row(3_391_000.0, 0.5),
        "Python, 4 workers x 8": row(1500.0, 0.01),
        "Python, 32 in sequence": row(1000.0, 0.01),
    }
    tables = users.compare(rows)
    pipes = next(t for t in tables if t["table"] == old_figures.TWENTY and t["what"] == "pipes")
    assert users.theirs(pipes) == "3,391"
    assert users.ours(pipes, "same_way") == ("33.9 k", "10")
    assert users.ours(pipes, "native") == ("~3.39 M", "~1,000")
    sequence, workers, ratio = (t for t in tables if t["table"] == old_figures.CLUSTER_PPO)
    assert users.theirs(sequence) == "1,500 to 2,000"
    assert users.ours(sequence, "same_way") == ("1 k", "–")  # another environment: only the ratio compares
    assert users.ours(workers, "native") == ("", "")
    assert users.ours(ratio, "same_way")[0] == "1.5"
    assert users.theirs(ratio) == "0.035 to 0.053"


def test_the_command_measures_compares_and_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("pipes | 20 ", "shared memory | 20 ", "native | 20 ")
    cells = [c for c in users.stepping(False) if c.name.startswith(few)]
    trainer = Configuration("Python, 32 in sequence", "garrison.bench.sim:single")  # stands in for one: no torch
    monkeypatch.setattr(users, "stepping", lambda quick: cells)
    monkeypatch.setattr(users, "training", lambda quick: [trainer])
    assert cli.main(["bench", "users", "--repeats", "1", "--seconds", "0.03", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    for figure in ("pipes", "shared memory", "32 environments in sequence"):
        assert figure in printed
    stored = json.loads((tmp_path / "users.json").read_text())
    assert [r["error"] for r in stored["results"]] == [None] * 4
    assert stored["method"]["trainers"]["repeats"] == 1
    page = (tmp_path / "index.html").read_text()
    assert "OPTIMIZATION_RESULTS.md" in page
    assert "200 environments" not in page  # nothing of that table was measured
