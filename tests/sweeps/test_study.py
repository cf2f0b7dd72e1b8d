"""Optuna behind a search: every sampler and pruner that can be named, and what comes back from the database."""

from pathlib import Path
from typing import Any

import optuna
import pytest

from garrison.errors import GarrisonError
from garrison.runs.presets import preset
from garrison.sweeps.study import COMPLETE, PRUNED, Study
from garrison.sweeps.sweep_plan import PRUNERS, SAMPLERS, SweepConfig, SweepPlan, make_plan
from garrison.sweeps.sweep_runs import SweepFolder

SPACE = {
    "ppo.learning_rate": "log:1e-4..1e-2",
    "ppo.gamma": "0.9..0.99",
    "ppo.rollout": "32..128:32",
    "ppo.policy.hidden": [[8], [16, 16]],
}
CLASSES = {"tpe": "TPESampler", "random": "RandomSampler", "cmaes": "CmaEsSampler", "gp": "GPSampler"}


def planned(**config: Any) -> SweepPlan:
    return make_plan("mine", preset("ppo-cartpole"), SweepConfig(search="optuna", space=SPACE, **config))


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_every_sampler_chooses_within_the_space(sampler: str, tmp_path: Path) -> None:
    plan = planned(sampler=sampler, trials=4)
    study = Study(plan, SweepFolder(tmp_path))
    for number in range(4):
        trial = study.ask()
        assert trial is not None
        values = trial.setting.values
        assert 1e-4 <= values["ppo.learning_rate"] <= 1e-2
        assert 0.9 <= values["ppo.gamma"] <= 0.99
        assert values["ppo.rollout"] in (32, 64, 96, 128)
        assert values["ppo.policy.hidden"] in ([8], [16, 16])
        plan.run_of(trial.setting, 0)
        study.tell(trial, COMPLETE, float(number))
    assert type(study._study.sampler).__name__ == CLASSES[sampler]
    read = Study(plan, SweepFolder(tmp_path)).trials()
    assert [(trial.state, trial.value) for trial in read] == [("complete", float(k)) for k in range(4)]
    assert set(study.importance()) == set(SPACE)


@pytest.mark.parametrize("pruner", PRUNERS)
def test_every_pruner_judges_by_the_scores_so_far(pruner: str, tmp_path: Path) -> None:
    study = Study(planned(pruner=pruner, trials=30), SweepFolder(tmp_path))
    judged = []
    for number in range(8):
        trial = study.ask()
        assert trial is not None
        hopeless = any(study.report(trial, step, 10.0 - number) for step in (1, 2, 3))
        judged.append(hopeless)
        study.tell(trial, PRUNED if hopeless else COMPLETE, None if hopeless else 10.0 - number)
    assert judged[0] is False
    assert any(judged) == (pruner != "none")


def test_who_tells_second_changes_nothing(tmp_path: Path) -> None:
    study = Study(planned(trials=2), SweepFolder(tmp_path))
    trial = study.ask()
    assert trial is not None
    study.tell(trial, COMPLETE, 1.0)
    study.tell(trial, PRUNED)
    assert study.report(trial, 1, 5.0) is False
    assert [(each.state, each.value) for each in study.trials()] == [("complete", 1.0)]


def test_the_study_is_one_that_optuna_opens(tmp_path: Path) -> None:
    study = Study(planned(trials=2), SweepFolder(tmp_path))
    study.ask()
    loaded = optuna.load_study(study_name="sweep", storage=f"sqlite:///{tmp_path}/study.db")
    assert set(loaded.trials[0].params) == set(SPACE)
    assert loaded.direction.name == "MAXIMIZE"


def test_a_damaged_database_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "study.db").write_bytes(b"no database at all" * 99)
    with pytest.raises(GarrisonError, match="the study cannot be read or written"):
        Study(planned(), SweepFolder(tmp_path))
