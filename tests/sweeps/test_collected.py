"""What comes out of a sweep: the table, CSV and the best settings as a file."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from garrison.report.sweep_results import SweepResults
from garrison.runs.experiment_file import load_experiment
from garrison.runs.presets import preset
from garrison.sweeps.collected import collect, facts, to_text, write_results
from garrison.sweeps.one_run import Job
from garrison.sweeps.sweep_plan import SweepConfig, SweepPlan, make_plan
from garrison.sweeps.sweep_runs import SweepFolder
from tests.helpers.scripted_runs import ScriptedProcess

BASE = preset("ppo-cartpole").changed(steps=77)


def written(tmp_path: Path, scores: dict[str, float], **config: Any) -> tuple[SweepPlan, SweepFolder, SweepResults]:
    """Write the runs that have a score, by their names."""
    plan, folder = make_plan("mine", BASE, SweepConfig(**config)), SweepFolder(tmp_path)
    for setting in plan.settings:
        for seed in plan.seeds:
            path = folder.run(setting.number, seed)
            if path.name in scores:
                job = Job(plan.run_of(setting, seed).to_dict(), path.name, str(path), [], [])
                process = ScriptedProcess(job, [scores[path.name]])
                while process.poll() is None:
                    pass
    return plan, folder, collect(plan, folder, None)


def test_the_best_setting_is_the_best_mean_of_those_with_every_seed(tmp_path: Path) -> None:
    scores = {
        "0000-seed-0": 9.0,
        "0000-seed-1": 11.0,
        "0001-seed-0": 99.0,
        "0002-seed-0": 12.0,
        "0002-seed-1": 2.0,
    }
    plan, folder, results = written(tmp_path, scores, grid={"ppo.policy.hidden": "[8],[8,8],[16]"}, seeds=2)
    best = results.best
    assert best is not None
    assert best.values == {"ppo.policy.hidden": [8]}
    assert best.score is not None
    assert best.score.mean == pytest.approx(10.0)
    assert best.score.reach == pytest.approx(12.706)  # Student's t with one degree of freedom, times an error of 1
    assert [setting.number for setting in results.ranked] == [0, 2, 1]
    write_results(results, plan, folder)
    assert load_experiment(folder.best) == BASE.changed(hidden=(8,))
    rows = list(csv.DictReader(folder.table.read_text().splitlines()))
    assert [(row["setting"], row["seed"], row["state"], row["score"]) for row in rows][2:4] == [
        ("1", "0", "finished", "99.0"),
        ("1", "1", "waiting", ""),
    ]
    assert rows[0]["ppo.policy.hidden"] == "8"
    assert rows[0]["run"] == "runs/0000-seed-0"
    lines = to_text(results).splitlines()
    assert lines[0].split() == ["setting", "hidden", "state", "seeds", "score"]
    assert lines[1].split() == ["0", "8", "finished", "2/2", "10.00", "±", "12.71"]
    assert json.loads(json.dumps(facts(results)))[0]["score"] == pytest.approx(10.0)


def test_a_sweep_of_seeds_alone_has_one_setting(tmp_path: Path) -> None:
    plan, folder, results = written(tmp_path, {"0000-seed-0": 1.0, "0000-seed-1": 3.0}, seeds=2)
    write_results(results, plan, folder)
    assert load_experiment(folder.best) == BASE
    assert to_text(results).splitlines()[0].split() == ["setting", "state", "seeds", "score"]


def test_without_a_finished_setting_there_is_no_best(tmp_path: Path) -> None:
    plan, folder, results = written(tmp_path, {"0000-seed-0": 1.0}, seeds=2)
    write_results(results, plan, folder)
    assert results.best is None
    assert not folder.best.exists()
    assert folder.table.exists()
