"""`garrison workflow search` from the outside: decisions, budget, resuming, what it leaves behind."""

import csv
import json
import shutil
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from garrison import cli
from garrison.report.workflow_tables import GP_COLUMNS
from garrison.storage import checkpoint
from garrison.system import install
from garrison.workflow import search as command
from garrison.workflow import surrogate, trials
from garrison.workflow.decisions import Trial
from garrison.workflow.inherit import order_files
from garrison.workflow.search_log import SearchLog
from garrison.workflow.settings import SEARCH, SearchExperiment

TINY = (
    "--envs 12 --length 10 --rollout 10 --hidden 8 --minibatches 2 --epochs 1 --evaluate-episodes 6 --no-tensorboard "
    "--episodes 12 --compliance-threshold 0.01 --quiet"
)


def search(out: Path, flags: str = "") -> int:
    return cli.main(f"workflow search --out {out} {TINY} {flags}".split())


def timeless(found: list[Trial]) -> list[Trial]:
    return [replace(trial, seconds=0.0, inherited=trial.inherited.rpartition("/")[2]) for trial in found]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("searches") / "gp"
    assert search(out, "--base-episodes 0 --budget-episodes 72 --initial 2") == 0
    return out


def test_a_search_spends_its_budget_and_inherits_from_the_nearest(finished: Path) -> None:
    log = SearchLog.load(finished)
    assert log.episodes == 72
    assert [trial.decision.how for trial in log.trials] == ["random"] * 2 + ["gp"] * 4
    assert log.trials[0].inherited == "fresh weights"
    for trial in log.trials[1:]:
        assert f"/{trial.decision.nearest:03}-" in trial.inherited
        assert f"distance {trial.decision.distance:.1f}" in trial.inherited
    assert list(order_files(finished).values()) == [(t.order, t.decision.iteration) for t in log.trials]


def test_what_a_search_says_fits_a_terminal_of_80_columns(finished: Path) -> None:
    log = SearchLog.load(finished)
    said = [command.lines_of(replace(trial, episodes=24_000)) for trial in log.trials]
    said.append(command.best_line(log.trials, SEARCH))
    assert max(len(line) for text in said for line in text.splitlines()) <= 80


def test_results_tables_and_pictures_are_there(finished: Path) -> None:
    results = json.loads((finished / "results.json").read_text())
    assert results["ended"] == "budget"
    assert len(results["orders"]) == 6
    best = max((row for row in results["orders"] if row["counts"]), key=lambda row: row["reward"])
    assert results["best"] == best["order"]
    assert len(results["posterior"]["mean"]) == 120
    assert results["settings"]["search"]["method"] == "gp"
    assert results["machine"]["cores"] >= 1
    names = {path.name for path in (finished / "plots").iterdir()}
    assert names == {"learning_curves.png", "places.png", "posterior.png", "reward_compliance.png"}


def test_plot_draws_a_search_for_papers(finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plot", str(finished), "--format", "pdf", "--out", str(tmp_path / "figures")]) == 0
    paths = sorted((tmp_path / "figures").iterdir())
    assert [path.name for path in paths] == [
        "learning_curves.pdf",
        "places.pdf",
        "posterior.pdf",
        "reward_compliance.pdf",
    ]
    assert sorted(capsys.readouterr().out.splitlines()) == [str(path) for path in paths]
    shutil.copy(finished / "search.json", tmp_path)
    assert cli.main(["plot", str(tmp_path)]) == 2
    assert "has no results yet" in capsys.readouterr().err


def test_the_logs_have_the_users_columns(finished: Path) -> None:
    with (finished / "export" / "gp_sampling_log.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == GP_COLUMNS
    users = ("Iteration", "Workflow", "UCB_Score", "Reward", "Final_Compliance", "Episodes_Trained", "GP_Updated")
    assert GP_COLUMNS[:7] == users
    assert [row["Iteration"] for row in rows] == list("012345")
    assert rows[0]["UCB_Score"] == ""
    last = rows[-1]
    total = float(last["Exploitation_Value"]) + float(last["Exploration_Bonus"])
    assert float(last["UCB_Score"]) == pytest.approx(total, abs=2e-4)
    assert last["Top1_Workflow"] == last["Workflow"]
    assert " → " in last["Closest_Workflow"]
    with (finished / "export" / "training_log.csv").open(encoding="utf-8") as file:
        log = list(csv.DictReader(file))
    assert [row["Total_Episodes_Sampled"] for row in log] == [str(12 * k) for k in range(1, 7)]
    with (finished / "export" / "orders.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert list(table[0])[:5] == ["Workflow_Name", "Workflow_Order", "Mean_Reward", "Std_Reward", "Mean_Compliance"]
    assert len(table) == 6
    markdown = (finished / "export" / "orders.md").read_text(encoding="utf-8").splitlines()
    assert len(markdown) == 8
    rewards = [float(line.split("|")[3].split("±")[0]) for line in markdown[2:]]
    assert rewards == sorted(rewards, reverse=True)


@pytest.mark.parametrize("how", ["killed", "killed while saving", "interrupted"])
def test_a_search_that_was_stopped_goes_on_with_the_same_decisions(
    how: str, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, calls = trials.run_trial, []

    def stop(*arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 4:
            if how == "killed":
                raise RuntimeError("the machine went away")
            signal.raise_signal(signal.SIGTERM)
        return run(*arguments)

    save = SearchLog.save

    def lose(log: SearchLog) -> None:
        if len(log.trials) == 4:
            raise RuntimeError("the machine went away")
        save(log)

    if how == "killed while saving":
        monkeypatch.setattr(SearchLog, "save", lose)
    else:
        monkeypatch.setattr(trials, "run_trial", stop)
    out, flags = tmp_path / "gp", "--base-episodes 0 --budget-episodes 72 --initial 2"
    if how != "interrupted":
        with pytest.raises(RuntimeError):
            search(out, flags)
    else:
        assert search(out, flags) == 128 + signal.SIGTERM
    assert len(SearchLog.load(out).trials) == 3
    monkeypatch.undo()
    assert cli.main(["workflow", "search", "--resume", str(out), "--quiet"]) == 0
    assert timeless(SearchLog.load(out).trials) == timeless(SearchLog.load(finished).trials)
    assert [row["trial"] for row in SearchLog.load(out).updates()] == list(range(6))
    for file in (finished / "orders").iterdir():
        mine, other = (checkpoint.load(path / "orders" / file.name)["state"]["weights"] for path in (out, finished))
        assert np.array_equal(mine, other)


def test_a_base_is_trained_on_all_orders_first_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "random"
    flags = "--method random --envs 120 --base-episodes 120 --budget-episodes 360 --episodes 120 --min-episodes 120"
    monkeypatch.setattr(surrogate, "find_spec", lambda name: None)  # random needs no scikit-learn
    assert search(out, f"{flags} --json") == 0
    assert json.loads(capsys.readouterr().out) == json.loads((out / "results.json").read_text())
    log = SearchLog.load(out)
    assert (log.base_episodes, log.episodes, len(log.trials)) == (120, 360, 2)
    assert all("base/checkpoint.garrison (all orders, distance 0.0)" in trial.inherited for trial in log.trials)
    before = (out / "base" / "checkpoint.garrison").read_bytes()
    assert cli.main(["workflow", "search", "--resume", str(out), "--total-episodes", "480"]) == 0  # its old name
    said = capsys.readouterr()
    assert "3 orders, 480 episodes" in said.out
    assert said.err == "garrison: --total-episodes is now called --budget-episodes.\n"
    assert (out / "base" / "checkpoint.garrison").read_bytes() == before
    assert len(SearchLog.load(out).trials) == 3


def test_an_order_that_does_not_comply_does_not_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = "--base-episodes 0 --budget-episodes 24 --compliance-threshold 1 --length 40 --rollout 40"
    out = tmp_path / "strict"
    assert cli.main(f"workflow search --out {out} {TINY} {flags}".replace("--quiet", "").split()) == 0
    assert "No order reached the compliance 1" in capsys.readouterr().out
    assert not any(trial.observed for trial in SearchLog.load(out).trials)
    assert search(tmp_path / "fixed", f"{flags} --fixed-episodes") == 0
    fixed = SearchLog.load(tmp_path / "fixed").trials
    assert all(trial.observed for trial in fixed)
    assert {trial.reason for trial in fixed} == {"episodes"}


def test_exhaustive_tries_the_orders_in_turn(tmp_path: Path) -> None:
    assert search(tmp_path / "all", "--method exhaustive --base-episodes 0 --budget-episodes 36") == 0
    assert [trial.order for trial in SearchLog.load(tmp_path / "all").trials] == [0, 1, 2]


def test_the_budget_is_never_passed_by_an_order_that_cannot_finish() -> None:
    experiment = replace(
        SEARCH,
        workflow=replace(SEARCH.workflow, episodes=100, min_episodes=40),
        search=replace(SEARCH.search, base_episodes=0, budget_episodes=250),
    )
    assert experiment.rules(0).max_episodes == 100
    assert experiment.rules(200).max_episodes == 50
    assert command.ending_of(experiment, 200, 0.0) is None
    assert command.ending_of(experiment, 211, 0.0) == "budget"
    unlimited = replace(experiment, search=replace(experiment.search, method="exhaustive", budget_episodes=0))
    assert command.ending_of(unlimited, 10**9, 0.0) is None
    assert replace(experiment.search, budget_episodes=0).budget == 100_000
    timed = replace(experiment, run=replace(experiment.run, duration="10s"))
    assert command.ending_of(timed, 0, 11.0) == "time"


def test_the_settings_of_an_older_search_are_read() -> None:
    values = SEARCH.to_dict()
    values["search"]["total_episodes"] = values["search"].pop("budget_episodes") + 75_000
    assert SearchExperiment.from_dict(values, SEARCH).search.budget == 75_000


def test_wrong_folders_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["workflow", "search", "--resume", str(tmp_path)]) == 2
    assert "is not a run's folder" in capsys.readouterr().err
    (tmp_path / "config.yaml").write_text(SEARCH.to_yaml())
    assert cli.main(["workflow", "search", "--resume", str(tmp_path)]) == 2
    assert "search.json is missing or damaged" in capsys.readouterr().err
    (tmp_path / "config.yaml").write_text("env: {envs: 4}\nworkflows: 3\n")
    assert cli.main(["workflow", "search", "--resume", str(tmp_path)]) == 2
    assert "does not hold the settings of a search: unknown setting 'workflows'" in capsys.readouterr().err


def test_a_missing_sklearn_is_told_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(surrogate, "find_spec", lambda name: None)
    assert search(tmp_path / "gp") == 2
    assert f"{install('workflow')}" in capsys.readouterr().err
    assert not (tmp_path / "gp").exists()


def test_the_command_lists_its_parts(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["workflow"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {name} " in out for name in ("train", "search", "evaluate"))
    assert cli.main(["workflow", "serch"]) == 2
    assert "did you mean 'search'" in capsys.readouterr().err


def test_a_search_has_a_page_that_is_live_until_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    kept = SearchLog.add

    def look(log: SearchLog, *trial: Any) -> None:
        kept(log, *trial)
        seen.append((log.folder / "index.html").read_text())

    monkeypatch.setattr(SearchLog, "add", look)
    out = tmp_path / "search"
    assert search(out, "--base-episodes 0 --budget-episodes 24 --initial 2") == 0
    assert len(seen) == 2
    assert all("data-every" in page and ">running<" in page for page in seen)
    assert "Reward of each order" not in seen[0]  # written before the first order was kept
    assert "Reward of each order" in seen[1]
    page = (out / "index.html").read_text()
    assert "<script" not in page
    assert ">finished<" in page
    assert "It ended because the episodes are used up." in page
    assert f"garrison workflow search --resume {out.resolve()}" in page
    assert "A point for each order" in page
    assert page.count('class="badge') == 1 + 2  # the search and its orders
    assert (out / "marks.jsonl").exists()
    monkeypatch.undo()
    assert search(tmp_path / "bare", "--base-episodes 0 --budget-episodes 12 --initial 1 --no-page") == 0
    assert not (tmp_path / "bare" / "index.html").exists()
