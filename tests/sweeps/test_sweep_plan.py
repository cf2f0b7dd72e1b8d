"""The plan of a sweep: what it refuses, as a file, and what may change when it goes on."""

from pathlib import Path
from typing import Any

import pytest

from garrison.errors import UserError
from garrison.runs.experiment_file import load_experiment
from garrison.runs.presets import preset
from garrison.sweeps.sweep_plan import SweepConfig, SweepPlan, check_same, find_base, load_plan, make_plan, read_config

CARTPOLE = preset("ppo-cartpole")
RATES = {"ppo.learning_rate": "1e-3,2e-3"}
SPACE = {"ppo.gamma": "0.9..0.99"}


def planned(**config: Any) -> SweepPlan:
    return make_plan("mine", CARTPOLE, SweepConfig(**config))


def test_a_plan_is_a_file_that_reads_back_to_itself(tmp_path: Path) -> None:
    for plan in (planned(grid=RATES, seeds=3), planned(search="optuna", space=SPACE, trials=7)):
        (tmp_path / "sweep.yaml").write_text(plan.to_text())
        read = load_plan(tmp_path / "sweep.yaml")
        assert (read.experiment, read.config) == (plan.experiment, plan.config)
        name, experiment, section = find_base(str(tmp_path / "sweep.yaml"))
        assert (name, experiment, read_config(section)) == ("sweep", plan.experiment, plan.config)


def test_the_settings_of_a_grid_are_all_combinations_with_every_seed() -> None:
    plan = planned(grid={**RATES, "ppo.epochs": [2, 4]}, seeds=2)
    values = [(s.values["ppo.learning_rate"], s.values["ppo.epochs"]) for s in plan.settings]
    assert values == [(0.001, 2), (0.001, 4), (0.002, 2), (0.002, 4)]
    assert plan.runs == 8
    run = plan.run_of(plan.settings[3], plan.seeds[1])
    assert run == CARTPOLE.changed(learning_rate=0.002, epochs=4, seed=1)


def test_runs_that_may_be_pruned_are_scored_while_they_are_trained() -> None:
    search = {"search": "optuna", "space": SPACE}
    assert planned(**search).experiment.run.evaluate_every == CARTPOLE.learner.steps // 20
    assert planned(**search, pruner="none").experiment.run.evaluate_every == 0
    mine = make_plan("mine", CARTPOLE.changed(evaluate_every=7), SweepConfig(**search))
    assert mine.experiment.run.evaluate_every == 7


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, "say what to vary"),
        ({"seeds": 0}, "seeds must be from 1"),
        ({"trials": 10**9, "search": "optuna", "space": SPACE}, "trials must be from 1"),
        ({"search": "optuna"}, "a search needs a space"),
        ({"search": "optina", "space": SPACE}, "did you mean 'optuna'"),
        ({"search": "optuna", "space": SPACE, "sampler": "tp"}, "did you mean 'tpe'"),
        ({"search": "optuna", "space": SPACE, "pruner": "x"}, "unknown pruner"),
        ({"search": "optuna", "space": SPACE, "grid": RATES}, "not both"),
        ({"space": SPACE}, "--search optuna"),
        ({"grid": {"ppo.epochs": list(range(1, 102)), "ppo.rollout": list(range(1, 101))}}, "10,100 runs"),
    ],
)
def test_what_is_no_sweep_is_refused(config: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        planned(**config)


def test_an_experiment_that_cannot_be_swept_is_refused() -> None:
    two = SweepConfig(seeds=2)
    with pytest.raises(UserError, match="several agents in one run"):
        make_plan("mine", preset("ppo-jax-mixed").changed(seeds=2), two)
    with pytest.raises(UserError, match="on one machine each"):
        make_plan("mine", preset("impala-cartpole").changed(cluster="local"), two)
    with pytest.raises(UserError, match="evaluate-every"):
        make_plan("mine", CARTPOLE.changed(duration="1m"), SweepConfig(search="optuna", space=SPACE))


def test_only_more_of_the_same_may_be_asked_for() -> None:
    here, grid, search = Path("here"), planned(grid=RATES, seeds=2), {"search": "optuna", "space": SPACE}
    check_same(grid, planned(grid=RATES, seeds=3), here)
    check_same(planned(**search), planned(**search, trials=99), here)
    others = [
        (grid, planned(grid=RATES, seeds=1), "sweep.seeds"),
        (grid, planned(grid={"ppo.learning_rate": "1e-3"}, seeds=2), "sweep.grid.ppo.learning_rate"),
        (grid, make_plan("mine", CARTPOLE.changed(steps=9), grid.config), "ppo.steps"),
        (planned(**search), planned(**search, seeds=2), "sweep.seeds"),
        (planned(**search), planned(**search, trials=9), "sweep.trials"),
        (planned(**search), planned(**search, sampler="random"), "sweep.sampler"),
    ]
    for before, now, name in others:
        with pytest.raises(UserError, match=f"the sweep in here has {name}"):
            check_same(before, now, here)


def test_a_file_with_a_sweep_is_refused_by_train_and_read_by_sweep(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("preset: ppo-cartpole\nppo: {steps: 99}\nsweep: {seeds: 4, grid: {ppo.epochs: [1, 2]}}\n")
    name, experiment, section = find_base(str(file))
    assert (name, experiment) == ("mine", CARTPOLE.changed(steps=99))
    assert read_config(section) == SweepConfig(seeds=4, grid={"ppo.epochs": [1, 2]})
    with pytest.raises(UserError, match="unknown setting 'sweep'"):
        load_experiment(file)
    file.write_text("sweep: {sedes: 4}\n")
    with pytest.raises(UserError, match=r"unknown setting 'sweep.sedes'; did you mean 'seeds'"):
        read_config(find_base(str(file))[2])
