"""`garrison bench scaling`: what it measures, what it leaves out, and which row is compared with which."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from garrison import cli, system
from garrison.bench.method.fresh import Configuration
from garrison.bench.method.partners import pair
from garrison.bench.publish.scaling_parts import batch, on_two_cores, shared, training
from garrison.bench.suites import scaling_speed, scaling_workloads
from garrison.bench.suites.scaling_speed import checking, configurations, fitting, partners

SIZES = [1, 1_000, 10_000, 1_000_000]


@pytest.fixture(autouse=True)
def calibration_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling_speed, "rounds_per_second", lambda: 1e6)


def names(rows: list[Configuration]) -> set[str]:
    return {row.name for row in rows}


def test_every_size_is_measured_on_one_and_on_all_threads() -> None:
    rows = [row.labels for row in configurations(SIZES, 16, [1, 16])]
    for n in SIZES:
        assert batch(n) in rows
        assert batch(n, 16) in rows
    assert len(rows) == len({json.dumps(labels, sort_keys=True) for labels in rows})


def test_checks_measure_every_number_of_cores_and_the_parts_on_two() -> None:
    rows = [row.labels for row in checking(SIZES, [1, 2, 4, 6])]
    for k in (1, 2, 4, 6):
        assert {batch(n, k) in rows for n in (10_000, 1_000_000)} == {True}
        assert {shared(8 * k, k, cost) in rows for cost in ("50 µs", "500 µs", "3 ms")} == {True}
        assert training(k) in rows
    assert batch(1, 4) not in rows
    assert on_two_cores(batch(4_000, 8)) in rows


def test_rows_are_compared_with_one_thread_or_with_a_bare_loop() -> None:
    rows = pair(checking(SIZES, [1, 2]), partners)
    found = {row.name: row.partner for row in rows}
    assert found["garrison, 10,000 environments, 2 threads"] == batch(10_000)
    assert found["garrison shared, 16 environments, 2 workers, 3 ms"] == {"who": "plain loop", "cost": "3 ms"}
    assert found["garrison, 4,000 environments, 8 threads, on two cores"] == on_two_cores(batch(4_000))
    assert found["garrison, 1,000,000 environments"] == batch(10_000)
    assert found["garrison PPO, 2 threads"] == training(1)
    assert found["memory copy, 2 threads"] == {"who": "memory copy", "threads": 1}
    assert found["plain loop, 3 ms"] is None


def test_batches_that_do_not_fit_are_left_out_with_a_sentence() -> None:
    assert fitting(SIZES, 10**12) == (SIZES, [])
    kept, left_out = fitting(SIZES, 10**9)
    assert kept == SIZES[:-1]
    assert left_out == ["1,000,000 environments are left out: 1.6 GB may be needed, and 1 GB are available."]


def test_training_is_left_out_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "missing", lambda _: "PyTorch is not installed")
    assert not any("PPO" in name for name in names(checking(SIZES, [1, 2])))


def test_one_core_and_cores_that_are_not_there_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(system, "cores", lambda: 4)
    assert cli.main(["bench", "scaling", "--cores", "2", "5"]) == 2
    assert "--cores must be from 1 to 4" in capsys.readouterr().err
    monkeypatch.setattr(system, "cores", lambda: 1)
    assert cli.main(["bench", "scaling"]) == 2
    assert "needs two cores" in capsys.readouterr().err


def test_a_batch_is_in_the_middle_of_its_episodes_and_tells_what_it_holds() -> None:
    # In a fresh process, as a bench does it: here, memory that an earlier test gave back would not count as new.
    script = """
import json
from garrison.bench.suites import scaling_workloads

with scaling_workloads.batch(6_000, threads=2) as work:
    print(json.dumps([work.advance(), work.facts()]))
"""
    printed = subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE).stdout
    advanced, told = json.loads(printed.splitlines()[-1])
    assert advanced == 18_000
    assert 700 < told["resident_bytes"] / 6_000 < 10_000
    assert 64 < told["bytes_least"] < told["bytes_most"] < 3_000
    envs, _ = scaling_workloads._seasoned(500, 1)
    assert len(np.unique(envs.get_state()["t"])) == 100
    envs.close()


def test_bytes_are_those_of_the_lines_that_a_step_changes() -> None:
    class Still:
        """Two environments of 128 bytes, of which a step changes one byte."""

        num_envs = 2

        def __init__(self) -> None:
            self._state = np.zeros(2, np.dtype([("bytes", np.uint8, 128)]))

        def get_state(self, ids: object) -> np.ndarray:
            return self._state.copy()

        def step(self, actions: object) -> tuple[object, ...]:
            self._state["bytes"][0, 70] += 1
            return np.zeros((2, 52), np.int8), np.zeros(2), None, np.zeros(2, np.bool_), {}

    around = 2 * (52 + 8 + 1) + 8
    told = scaling_workloads.bytes_moved(Still(), np.zeros(2, np.int64))
    assert told == {"bytes_least": 2 * 32 + around, "bytes_most": 128 + 32 + around}  # half of them change one line


def test_the_other_workloads_work() -> None:
    with scaling_workloads.batches_apart(1_000) as work:
        assert sum(work.advance() for _ in range(4)) > 0
    with scaling_workloads.memory_copy(2) as work:
        assert work.advance() == 2 * scaling_workloads.COPIED_BYTES
    given = {"num_envs": 10, "threads": 3}
    before = os.sched_getaffinity(0)
    try:
        with scaling_workloads.on_two_cores(f"{scaling_workloads.__name__}:batch", given) as work:
            assert len(os.sched_getaffinity(0)) <= 2
            assert work.advance() == 20_000
    finally:
        os.sched_setaffinity(0, before)


def test_the_two_cores_are_different_ones_where_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(scaling_workloads, "_siblings", lambda processor: {0, 1})
    assert scaling_workloads.two_cores() == [0, 2]
    monkeypatch.setattr(scaling_workloads, "_siblings", lambda processor: {0, 1, 2, 3})
    assert scaling_workloads.two_cores() == [0, 1]


def test_every_workload_exists() -> None:
    for row in configurations(SIZES, 2, [1, 2]):
        for named in (row.workload, row.arguments.get("function", row.workload)):
            module, _, function = named.partition(":")
            assert callable(getattr(import_module(module), function))


@pytest.mark.long
def test_the_command_prints_forecast_beside_measurement_and_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(system, "cores", lambda: 2)
    monkeypatch.setattr(system, "missing", lambda _: "PyTorch is not installed")
    monkeypatch.setattr(scaling_speed, "SIZES", (1, 1_000, 10_000))
    words = ["bench", "scaling", "--cores", "--repeats", "1", "--seconds", "0.03", "--out", str(tmp_path)]
    assert cli.main(words) == 0
    printed = capsys.readouterr().out
    assert "forecast beside measurement" in printed
    assert "failed" not in printed
    result = json.loads((tmp_path / "scaling-cores.json").read_text())
    assert [row["error"] for row in result["results"]] == [None] * len(result["results"])
    assert "Forecast beside measurement" in (tmp_path / "index.html").read_text()
