"""What numbers are taken to mean: the model, the advice and the sentences about cores, from numbers that are known."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from garrison.errors import UserError
from garrison.profile.advice import advise, distribution, load_of
from garrison.profile.findings import cpu_share, crowded, findings
from garrison.vector.naming import parse_env_args, resolve_env
from garrison.vector.timing.cost_model import Load, Overheads, predict, slowest_group
from garrison.vector.timing.parts import BINS, Distribution, bin_of
from garrison.workers import usage
from tests.helpers.profile_rows import measured, row


def steps_of(*seconds: float) -> Distribution:
    counts = np.zeros(BINS, np.int64)
    for each in seconds:
        counts[bin_of(int(1e9 * each))] += 1
    return Distribution(counts)


def test_the_slowest_group_is_the_expected_maximum() -> None:
    load = Load(2.0, steps=steps_of(1.0, 3.0))
    assert slowest_group(load, 2, 2) == pytest.approx(2.5, rel=0.08)  # three of four pairs have a 3 in them
    assert slowest_group(load, 2, 1) == 4.0
    assert slowest_group(Load(2.0), 7, 2) == 8.0  # without a distribution: the larger group
    assert slowest_group(load, 64, 2) / (32 * 2.0) < 1.1  # many even each other out


def test_the_model_knows_cores_waiting_and_batches() -> None:
    add = Overheads(around=0.0, call=0.0, barrier=0.0, looks=0.0, worker=0.0, message=10e-6, slower=0.0)
    assert predict("serial", Load(1e-3), 16, 1, 2, overheads=add) == pytest.approx(16e-3)
    assert predict("shared", Load(1e-3), 16, 2, 2, overheads=add) == pytest.approx(8e-3)
    assert predict("shared", Load(1e-3), 16, 16, 2, overheads=add) == pytest.approx(8e-3)  # two cores are two cores
    assert predict("shared", Load(1e-3, cpu=0.0), 16, 16, 2, overheads=add) == pytest.approx(1e-3)
    uneven = Load(1e-3, steps=steps_of(0.1e-3, 1.9e-3))
    shared, ready = (predict(backend, uneven, 4, 4, 4, 2, add) for backend in ("shared", "async"))
    assert shared > 1.6e-3
    assert ready == pytest.approx(1e-3 + 2 * 10e-6)
    add = replace(add, slower=0.25)
    assert predict("shared", Load(1e-3), 16, 2, 2, overheads=add) == pytest.approx(10e-3)  # all wait for the slower
    assert predict("shared", Load(1e-3), 16, 1, 2, overheads=add) == pytest.approx(16e-3)  # nobody waits


def test_cheap_steps_are_best_left_in_one_process() -> None:
    best = advise(measured(2e-6), cores=2)[0]
    assert (best.backend, best.basis) == ("serial", "measured")


def test_dear_steps_get_a_worker_per_core_and_no_more() -> None:
    best = advise(measured(1e-3), cores=2)[0]
    assert (best.backend, best.workers) == ("shared", 2)
    assert best.words == "shared with 2 workers"


def test_environments_that_wait_get_more_workers_than_cores() -> None:
    best = advise(measured(1e-3, cpu=0.05), cores=2)[0]
    assert (best.backend, best.workers, best.basis) == ("shared", 16, "model")
    assert best.steps_per_second > 8_000


def test_more_workers_than_cores_are_advised_away() -> None:
    rows = {
        "shared": row("shared", 1e-3, 8, parts={"ipc": 6e-3})
    }  # they take turns, so the rest of the wall is waiting
    assert advise(rows, cores=2)[0].workers in (2, 8)
    rows["shared"]["worker_processes"] = [
        {**each, "cpu_seconds": 0.24, "busy_threads": 1} for each in rows["shared"]["worker_processes"]
    ]
    sentence = findings(rows["shared"], cores=2)[0]
    assert sentence.startswith("oversubscribed: 8 workers compute all the time on 2 cores")


def test_a_compiled_batch_wins() -> None:
    rows = measured(20e-6) | {"native": row("native", 1e-6, 1)}
    assert advise(rows, cores=2)[0].words == "native"


def test_the_load_is_what_one_environment_takes() -> None:
    for each in measured(1e-3).values():
        assert load_of(each).step == pytest.approx(1e-3)
        assert distribution(each).total == 100
    assert load_of(row("serial", 1e-3, 1, cpu=0.05)).cpu == pytest.approx(0.05, rel=0.01)


def test_threads_of_workers_are_counted_against_cores_and_named() -> None:
    crowd = row("shared", 1e-3, 8)
    for worker in crowd["worker_processes"]:
        worker["busy_threads"] = 4
    (sentence,) = findings(crowd, cores=2)
    assert "each of 8 workers runs 4 busy threads on 2 cores, 32 threads in all" in sentence
    assert "OMP_NUM_THREADS=1" in sentence
    assert findings(row("shared", 1e-3, 2), cores=2) == []


def test_threads_of_one_process_are_named_with_the_settings() -> None:
    crowd = row("serial", 1e-3, 1)
    crowd["caller"]["busy_threads"] = 8
    (sentence,) = findings(crowd, cores=2, environ={"OMP_NUM_THREADS": "8", "HOME": "x"})
    assert "8 busy threads on 2 cores" in sentence
    assert "(OMP_NUM_THREADS=8)" in sentence
    crowd["caller"]["busy_threads"] = 2
    assert "computes with 2 threads in one process" in findings(crowd, cores=2)[0]


def test_cores_taken_by_others_are_named() -> None:
    rows = measured(1e-3)
    assert crowded(rows) == ""
    rows["serial"]["caller"]["queue_seconds"] = 0.4
    assert "serial 40% of the time" in crowded(rows)
    assert cpu_share(rows["shared"]) == pytest.approx(1.0, rel=0.01)


@pytest.mark.alone
def test_usage_counts_busy_threads_of_a_process() -> None:
    import os

    stop = threading.Event()

    def spin() -> None:
        while not stop.is_set():
            sum(range(1000))

    idle = threading.Thread(target=stop.wait)
    busy = [threading.Thread(target=spin) for _ in range(2)]
    for thread in (idle, *busy):
        thread.start()
    before, begun = usage.snapshot([os.getpid()]), time.perf_counter()
    stop.wait(0.4)
    after = usage.snapshot([os.getpid()])
    seconds = time.perf_counter() - begun
    stop.set()
    for thread in (idle, *busy):
        thread.join()
    used = usage.between(before, after, seconds)[os.getpid()]
    if not used.threads:
        pytest.skip("there is no /proc here")
    assert used.threads >= 4
    assert 2 <= used.busy_threads < used.threads
    assert 0.0 < used.cpu_seconds < 4 * seconds


def test_targets_are_ids_or_callables() -> None:
    from tests.helpers.known_costs import quick_env

    assert resolve_env("tests.helpers.known_costs:quick_env") is quick_env
    assert resolve_env("CartPole-v1") == "CartPole-v1"
    assert resolve_env("garrison:garrison/CAGE2-v0") == "garrison:garrison/CAGE2-v0"
    with pytest.raises(UserError, match="did you mean CartPole"):
        resolve_env("CartPol-v1")
    with pytest.raises(UserError, match="cannot be imported: No module named 'nowhere'"):
        resolve_env("nowhere:thing")
    assert parse_env_args(["a=1", "b=x", "c=[2]"]) == {"a": 1, "b": "x", "c": [2]}
    with pytest.raises(UserError, match="key=value; got 'a'"):
        parse_env_args(["a"])
