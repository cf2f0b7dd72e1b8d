"""Cores are divided among runs, and never given twice."""

import pytest

from garrison.runs.presets import preset
from garrison.sweeps import slots
from garrison.sweeps.slots import LocalSlots, cores_needed, most_cores, shares_of
from garrison.sweeps.sweep_plan import SweepConfig, make_plan


@pytest.mark.parametrize("count", range(1, 9))
def test_no_core_is_given_twice(count: int) -> None:
    shares = shares_of(list(range(8)), count)
    assert sorted(core for share in shares for core in share) == list(range(8))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_as_many_runs_at_once_as_the_cores_bear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "usable_cores", lambda: list(range(8)))
    assert LocalSlots(1, 0, 100).count == 8
    assert LocalSlots(3, 0, 100).count == 2
    assert LocalSlots(9, 0, 100).count == 1
    assert LocalSlots(1, 0, 2).describe() == "2 at once, 4 cores each"
    assert LocalSlots(1, 3, 100).count == 3


def test_what_a_run_needs() -> None:
    assert cores_needed(preset("ppo-cartpole")) == 1
    assert cores_needed(preset("ppo-cartpole").changed(threads=4)) == 4
    assert cores_needed(preset("ppo-cartpole").changed(workers=3, backend="shared")) == 3
    assert cores_needed(preset("impala-cartpole")) == 3  # two actors and the learner
    assert cores_needed(preset("a3c-cartpole")) == 2
    plan = make_plan("mine", preset("impala-cartpole"), SweepConfig(grid={"impala.actors": [1, 5]}))
    assert most_cores(plan) == 6
    space = {"impala.actors": "1..7"}
    searched = SweepConfig(search="optuna", space=space, pruner="none")
    assert most_cores(make_plan("mine", preset("impala-cartpole"), searched)) == 8
