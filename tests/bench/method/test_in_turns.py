"""Rows take turns: nobody works in another's, what others disturbed does not count, nothing is left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import Any

import psutil
import pytest

from garrison import system
from garrison.bench.method import in_turns
from garrison.bench.method.fresh import Configuration, Sample, merged
from garrison.bench.method.in_turns import TURN_SECONDS, RowTurn, TurnTaker, run_in_turns

HERE = "tests.helpers.bench_workloads"


@pytest.fixture(autouse=True)
def children_find_this_file(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[3]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(root), str(root / "src")]))


def nap(milliseconds: float, longer: float = 1.0) -> Configuration:
    labels = {"who": "nap", "ms": milliseconds}
    return Configuration(labels, f"{HERE}:nap", {"milliseconds": milliseconds}, longer=longer)


def restless(file: Path) -> Configuration:
    return Configuration({"who": file.name}, f"{HERE}:restless", {"file": str(file)})


def sampled(outcome: Sample | str) -> Sample:
    assert isinstance(outcome, Sample), outcome
    return outcome


def test_nobody_works_in_another_ones_turn(tmp_path: Path) -> None:
    files = [tmp_path / "one", tmp_path / "two"]
    outcomes, _ = run_in_turns(list(map(restless, files)), seconds=0.5, warm_up=0.05, timeout=60, tries=1)
    for outcome in map(sampled, outcomes):
        assert outcome.steps > 0
        assert outcome.processes == 2
    one, two = ([int(line) for line in file.read_text().splitlines()] for file in files)
    stamps = sorted([(at, 1) for at in one if at > two[0]] + [(at, 2) for at in two])  # both are there
    changes = sum(first[1] != second[1] for first, second in pairwise(stamps))
    turns = 0.5 / TURN_SECONDS
    assert turns <= changes <= 2 * turns + 2  # with the facts of both at the end: not one after each nap


def test_the_time_of_each_is_its_own_and_longer_rows_work_longer() -> None:
    outcomes, again = run_in_turns([nap(1), nap(2, longer=2.0)], seconds=0.25, warm_up=0.0, timeout=60, tries=1)
    short, long = map(sampled, outcomes)
    assert short.wall_seconds >= 0.25
    assert long.wall_seconds >= 0.5
    assert short.steps / 10 * 0.001 <= short.wall_seconds  # a nap is never too short
    assert long.steps / 10 * 0.002 <= long.wall_seconds
    assert short.facts == {"answer": 42.0}
    assert short.cpu_seconds < 0.8 * short.wall_seconds
    assert again == 0


def test_a_long_advance_makes_all_turns_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[float] = []

    class Noted(TurnTaker):
        def turn(self, seconds: float) -> RowTurn:
            taken.append(seconds)
            return super().turn(seconds)

    monkeypatch.setattr(in_turns, "TurnTaker", Noted)
    outcomes, _ = run_in_turns([nap(1), nap(150)], seconds=0.25, warm_up=0.0, timeout=60, tries=1)
    assert all(isinstance(outcome, Sample) for outcome in outcomes)
    assert min(taken) >= 0.15


def test_nobody_always_comes_after_the_same_one(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[TurnTaker] = []

    class Noted(TurnTaker):
        def turn(self, seconds: float) -> RowTurn:
            taken.append(self)
            return super().turn(seconds)

    monkeypatch.setattr(in_turns, "TurnTaker", Noted)
    monkeypatch.setattr(in_turns, "TURN_SECONDS", 0.01)
    run_in_turns([nap(1), nap(1), nap(1)], seconds=0.5, warm_up=0.0, timeout=60, tries=1)
    passes = [tuple(map(id, taken[k : k + 3])) for k in range(0, len(taken), 3)]
    assert all(len(set(each)) == 3 for each in passes)  # a turn of each
    for place in range(3):
        assert {each[place] for each in passes} == set(passes[0])


def test_what_workers_do_before_the_bench_has_heard_the_answer_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(TurnTaker):
        def _answer(self) -> Any:
            answer = super()._answer()
            time.sleep(0.2)
            return answer

    monkeypatch.setattr(in_turns, "TurnTaker", Slow)
    outcomes, _ = run_in_turns([restless(tmp_path / "one")], seconds=0.5, warm_up=0.05, timeout=60, tries=1)
    sample = sampled(outcomes[0])
    naps_before = 0.3 / 0.001  # in its set-up, which ends while nobody has stopped it yet
    assert sample.steps <= sample.wall_seconds / 0.001 + naps_before


def test_who_fails_does_not_cost_the_others() -> None:
    rows = [
        Configuration({"who": "bad"}, f"{HERE}:broken"),
        nap(1),
        Configuration({"who": "later"}, f"{HERE}:dies_at", {"advances": 20}),
        Configuration({"who": "stuck"}, f"{HERE}:nap", {"milliseconds": 60_000}),
    ]
    outcomes, _ = run_in_turns(rows, seconds=0.5, warm_up=0.0, timeout=2.0, tries=1)
    assert "the workload is broken" in str(outcomes[0])
    assert sampled(outcomes[1]).steps > 0
    assert "it died on the way" in str(outcomes[2])
    assert "no result within 2 s" in str(outcomes[3])


def stealing(seconds: Iterator[float]) -> Iterator[float]:
    total = 0.0
    for stolen in seconds:  # two looks around each turn
        yield total
        total += stolen
        yield total


def test_disturbed_passes_are_made_again_and_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = stealing(chain([9.0, 0.0, 0.0, 9.0], repeat(0.0)))  # in two of the passes of two rows
    monkeypatch.setattr(system, "stolen_seconds", lambda: next(looks))
    outcomes, again = run_in_turns([nap(1), nap(1)], seconds=0.25, warm_up=0.0, timeout=60)
    assert again >= 1  # two, unless a slow turn has made up for one
    for outcome in map(sampled, outcomes):
        assert outcome.stolen == 0.0
        assert outcome.wall_seconds >= 0.25


def test_where_all_is_disturbed_the_least_disturbed_passes_count(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = stealing(chain(repeat(90.0, 3), repeat(20.0, 3), repeat(90.0)))
    monkeypatch.setattr(system, "stolen_seconds", lambda: next(looks))
    outcomes, again = run_in_turns([nap(1)], seconds=0.25, warm_up=0.0, timeout=60, tries=3)
    sample = sampled(outcomes[0])
    needed = again / 2
    assert sample.stolen * sample.wall_seconds * (os.cpu_count() or 1) == pytest.approx(20.0 * needed)


def test_with_one_try_every_pass_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = stealing(repeat(9.0))
    monkeypatch.setattr(system, "stolen_seconds", lambda: next(looks))
    outcomes, again = run_in_turns([nap(1)], seconds=0.25, warm_up=0.0, timeout=60, tries=1)
    assert again == 0
    assert sampled(outcomes[0]).wall_seconds >= 0.25


def test_samples_of_several_processes_are_one() -> None:
    one = Sample(100, 1.0, 2.0, 0.5, 30.0, 20.0, 3, {"share": 0.2}, stolen=0.1)
    two = Sample(500, 3.0, 4.0, 1.5, 40.0, 10.0, 2, {"share": 0.4}, stolen=0.3)
    both = merged([one, two])
    assert both == Sample(600, 4.0, 6.0, 1.0, 40.0, 20.0, 3, {"share": pytest.approx(0.3)}, stolen=pytest.approx(0.25))
    assert both.rate == 150.0


def test_a_killed_bench_leaves_no_stopped_process(tmp_path: Path) -> None:
    code = (
        "from garrison.bench.method.fresh import Configuration\n"
        "from garrison.bench.method.in_turns import run_in_turns\n"
        f"files = [{str(tmp_path / 'one')!r}, {str(tmp_path / 'two')!r}]\n"
        f"rows = [Configuration({{'who': file}}, '{HERE}:restless', {{'file': file}}) for file in files]\n"
        "run_in_turns(rows, 60, 0.1, 60)\n"
    )
    bench = subprocess.Popen([sys.executable, "-c", code])
    try:
        _until(lambda: (tmp_path / "two").exists())
        children = psutil.Process(bench.pid).children(recursive=True)
        _until(lambda: any(child.status() == psutil.STATUS_STOPPED for child in children))
        assert len(children) >= 4  # a guard, a process and its worker, twice
    finally:
        bench.send_signal(signal.SIGKILL)
        bench.wait()
    _until(lambda: not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children))


def _until(is_true: Callable[[], bool], seconds: float = 60.0) -> None:
    latest = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < latest, "it never happened"
        time.sleep(0.02)
