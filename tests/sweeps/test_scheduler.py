"""What a sweep trains, and in which order: nothing twice, nothing lost, whatever ends it."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from garrison.runs.interrupts import Interrupts
from garrison.runs.page_rhythm import NoPages
from garrison.runs.presets import preset
from garrison.storage.lock import only_writer
from garrison.sweeps import scheduler as scheduling
from garrison.sweeps.choices import make_choices
from garrison.sweeps.collected import collect
from garrison.sweeps.one_run import HELD, Job
from garrison.sweeps.scheduler import Scheduler
from garrison.sweeps.study import Study
from garrison.sweeps.sweep_plan import SweepConfig, SweepPlan, make_plan
from garrison.sweeps.sweep_runs import SweepFolder
from tests.helpers.scripted_runs import Killed, ScriptedProcess, ScriptedSlots

RATES = {"ppo.learning_rate": [0.001, 0.002, 0.003]}
SPACE = {"ppo.learning_rate": "log:1e-4..1e-2", "ppo.epochs": [2, 4]}


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduling, "PAUSE", 0.0)


def planned(tmp_path: Path, **config: Any) -> tuple[SweepPlan, SweepFolder]:
    (tmp_path / "sweep").mkdir(parents=True, exist_ok=True)
    return make_plan("mine", preset("ppo-cartpole"), SweepConfig(**config)), SweepFolder(tmp_path / "sweep")


def train(
    plan: SweepPlan,
    folder: SweepFolder,
    slots: ScriptedSlots,
    task: int | None = None,
    say: Callable[..., None] = print,
) -> Scheduler:
    study = Study(plan, folder) if plan.is_search else None
    choices = make_choices(plan, folder, study, task)
    made = Scheduler(plan, choices, slots, Interrupts(lambda: None), NoPages(), say)
    made.run()
    return made


def by_rate(job: Job) -> list[float]:
    """Return scores that rise with the learning rate and a little with the seed."""
    learner = job.experiment["ppo"]
    top = 1000 * learner["learning_rate"] + 0.1 * learner["seed"]
    return [top / 2, top]


def states(folder: SweepFolder, plan: SweepPlan) -> list[str]:
    return [run.state for run in collect(plan, folder, None).runs]


def test_every_run_of_a_grid_is_trained_once_and_never_more_at_once_than_there_is_room(tmp_path: Path) -> None:
    plan, folder = planned(tmp_path, grid=RATES, seeds=2)
    slots = ScriptedSlots(by_rate)
    assert train(plan, folder, slots).failures == {}
    assert slots.started == [f"{setting:04}-seed-{seed}" for seed in (0, 1) for setting in range(3)]
    assert slots.most == 2
    best = collect(plan, folder, None).best
    assert best is not None
    assert best.values == {"ppo.learning_rate": 0.003}
    assert best.score is not None
    assert best.score.mean == pytest.approx(3.05)


def test_a_finished_sweep_trains_nothing(tmp_path: Path) -> None:
    plan, folder = planned(tmp_path, seeds=2)
    train(plan, folder, ScriptedSlots(by_rate))
    again = ScriptedSlots(by_rate)
    train(plan, folder, again)
    assert again.started == []


@pytest.mark.parametrize("dies_at", range(1, 6))
def test_a_killed_sweep_goes_on_with_what_is_not_finished(tmp_path: Path, dies_at: int) -> None:
    plan, folder = planned(tmp_path, grid=RATES, seeds=2)
    first = ScriptedSlots(by_rate, dies_at=dies_at)
    with pytest.raises(Killed):
        train(plan, folder, first)
    finished = {run.name for run in collect(plan, folder, None).runs if run.state == "finished"}
    second = ScriptedSlots(by_rate)
    train(plan, folder, second)
    assert set(states(folder, plan)) == {"finished"}
    assert not finished & set(second.started)
    assert len(second.started) == len(set(second.started))
    for run in collect(plan, folder, None).runs:  # what was half done goes on, so no score is there twice
        assert len((run.path / "metrics.jsonl").read_text().splitlines()) == 2


def test_a_run_that_fails_is_told_and_ends_nothing_and_has_another_attempt_next_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, folder = planned(tmp_path, grid=RATES)
    made = train(plan, folder, ScriptedSlots(by_rate, fails={"0001-seed-0": "the disk is full."}))
    error = folder.run(1, 0) / "error.txt"
    assert f"0001-seed-0 failed: the disk is full. The details are in {error}" in capsys.readouterr().err
    assert list(made.failures) == ["0001-seed-0"]
    assert states(folder, plan) == ["finished", "failed", "finished"]
    again = ScriptedSlots(by_rate)
    train(plan, folder, again)
    assert again.started == ["0001-seed-0"]
    assert states(folder, plan) == ["finished"] * 3


def test_a_run_that_is_killed_is_not_tried_for_ever(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, folder = planned(tmp_path, seeds=2)

    class Dying(ScriptedSlots):
        def start(self, job: Job) -> ScriptedProcess:
            process = super().start(job)
            if job.name.endswith("seed-0"):
                process.kill()
            return process

    slots = Dying(by_rate)
    train(plan, folder, slots)
    assert slots.started == ["0000-seed-0", "0000-seed-1"]
    assert "0000-seed-0 was ended by signal 9" in capsys.readouterr().err


def test_a_signal_lets_every_run_save_and_starts_nothing_more(tmp_path: Path) -> None:
    plan, folder = planned(tmp_path, grid=RATES)
    interrupts = Interrupts(lambda: None)

    class Interrupting(ScriptedSlots):
        def start(self, job: Job) -> ScriptedProcess:
            interrupts.signal = 2
            return super().start(job)

    slots = Interrupting(by_rate, count=1)
    Scheduler(plan, make_choices(plan, folder, None, None), slots, interrupts, NoPages(), print).run()
    assert slots.started == ["0000-seed-0"]
    assert states(folder, plan) == ["stopped", "waiting", "waiting"]


def test_a_run_that_another_process_trains_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, folder = planned(tmp_path, seeds=2)
    held = folder.run(0, 0)
    held.mkdir(parents=True)
    lock = only_writer(held, "")
    lock.__enter__()
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 20:
            lock.__exit__(None, None, None)

    monkeypatch.setattr(scheduling, "sleep", pause)
    said: list[str] = []
    slots = ScriptedSlots(by_rate)
    train(plan, folder, slots, say=said.append)
    assert slots.started == ["0000-seed-1", "0000-seed-0"]
    assert said.count("waiting for runs that another process trains") == 1


def test_who_comes_second_at_a_run_leaves_it_to_the_first(tmp_path: Path) -> None:
    plan, folder = planned(tmp_path, seeds=2)

    class Second(ScriptedSlots):
        def start(self, job: Job) -> ScriptedProcess:
            if self.started:
                return super().start(job)
            self.started.append(job.name)
            return ScriptedProcess(job, [], code=HELD)  # the other process was quicker, and soon gives up

    slots = Second(by_rate)
    made = train(plan, folder, slots)
    assert slots.started == ["0000-seed-0", "0000-seed-1", "0000-seed-0"]
    assert made.failures == {}
    assert states(folder, plan) == ["finished", "finished"]


def test_a_task_of_a_job_array_trains_its_own_run(tmp_path: Path) -> None:
    plan, folder = planned(tmp_path, grid=RATES, seeds=2)
    slots = ScriptedSlots(by_rate)
    train(plan, folder, slots, task=4)
    assert slots.started == ["0001-seed-1"]


def trials(plan: SweepPlan, folder: SweepFolder) -> list[tuple[int, str]]:
    return [(trial.setting.number, trial.state) for trial in Study(plan, folder).trials()]


def test_a_search_tells_optuna_the_mean_over_seeds(tmp_path: Path) -> None:
    plan, folder = planned(tmp_path, search="optuna", space=SPACE, trials=3, seeds=2, pruner="none")
    slots = ScriptedSlots(by_rate)
    train(plan, folder, slots)
    assert sorted(slots.started) == [f"{number:04}-seed-{seed}" for number in range(3) for seed in (0, 1)]
    for trial in Study(plan, folder).trials():
        assert trial.state == "complete"
        assert trial.value == pytest.approx(1000 * trial.setting.values["ppo.learning_rate"] + 0.05)


def test_a_killed_search_draws_the_same_trials_as_one_that_was_not(tmp_path: Path) -> None:
    whole, there = planned(tmp_path / "a", search="optuna", space=SPACE, trials=4)
    train(whole, there, ScriptedSlots(by_rate, count=1))
    plan, folder = planned(tmp_path / "b", search="optuna", space=SPACE, trials=4)
    started: list[str] = []
    for _ in range(3):
        slots = ScriptedSlots(by_rate, count=1, dies_at=2)
        with suppress(Killed):
            train(plan, folder, slots)
        started += slots.started
    assert trials(plan, folder) == [(number, "complete") for number in range(4)]
    assert [t.setting.values for t in Study(plan, folder).trials()] == [
        t.setting.values for t in Study(whole, there).trials()
    ]
    assert started == [f"{number:04}-seed-0" for number in range(4)]


def test_a_hopeless_trial_is_stopped_and_stays_so(tmp_path: Path) -> None:
    plan, folder = planned(tmp_path, search="optuna", space=SPACE, trials=8, seeds=2)

    def falling(job: Job) -> list[float]:
        number = int(job.name[:4])
        return [10.0 - number + 0.1 * step for step in range(3)]

    slots = ScriptedSlots(falling, count=1)
    train(plan, folder, slots)
    found = trials(plan, folder)
    assert found[:5] == [(number, "complete") for number in range(5)]  # Optuna's median waits for five
    assert found[5:] == [(number, "pruned") for number in range(5, 8)]
    assert "0005-seed-1" not in slots.started
    results = collect(plan, folder, Study(plan, folder))
    assert [run.state for run in results.settings[5].runs] == ["pruned", "pruned"]
    assert results.settings[5].score is None
    assert results.settings[5].reported == pytest.approx(5.0)
    again = ScriptedSlots(falling)
    train(plan, folder, again)
    assert again.started == []


def test_a_trial_that_fails_or_does_not_go_together_is_failed(tmp_path: Path) -> None:
    space = {"ppo.minibatches": [1], "ppo.gamma": "0.5..0.9"}
    plan, folder = planned(tmp_path, search="optuna", space=space, trials=2, seeds=2)
    slots = ScriptedSlots(by_rate, fails={"0000-seed-0": "no such file."}, count=1)
    train(plan, folder, slots)
    assert trials(plan, folder) == [(0, "failed"), (1, "complete")]
    assert Study(plan, folder).trials()[0].why == "no such file."
    assert slots.started == ["0000-seed-0", "0001-seed-0", "0001-seed-1"]


def test_two_processes_never_ask_for_more_trials_than_there_should_be(tmp_path: Path) -> None:
    plan, folder = planned(tmp_path, search="optuna", space=SPACE, trials=3)
    mine, theirs = Study(plan, folder), Study(plan, folder)
    asked = [study.ask() for study in (mine, theirs, mine, theirs)]
    assert [trial.setting.number if trial else None for trial in asked] == [0, 1, 2, None]


def test_a_task_has_a_trial_of_its_own_and_goes_on_with_it(tmp_path: Path) -> None:
    plan, folder = planned(tmp_path, search="optuna", space=SPACE, trials=3)
    with pytest.raises(Killed):
        train(plan, folder, ScriptedSlots(by_rate, dies_at=0), task=2)
    train(plan, folder, ScriptedSlots(by_rate), task=0)
    slots = ScriptedSlots(by_rate)
    train(plan, folder, slots, task=2)
    assert slots.started == ["0000-seed-0"]
    assert trials(plan, folder) == [(0, "complete"), (1, "complete")]


def test_a_trial_whose_asker_was_killed_before_it_was_anybodys_is_not_lost(tmp_path: Path) -> None:
    plan, folder = planned(tmp_path, search="optuna", space=SPACE, trials=2)
    Study(plan, folder).ask()
    for task in (0, 1):
        train(plan, folder, ScriptedSlots(by_rate), task=task)
    assert trials(plan, folder) == [(0, "complete"), (1, "complete")]
