import json
import os
from pathlib import Path

import pytest

from garrison.bench.method.fresh import Configuration, Sample
from garrison.bench.method.measure import command_line, measure, stolen
from garrison.bench.method.measurement import BenchResult, Measurement
from garrison.bench.method.rounds import Rounds
from garrison.formatting import short

HERE = "tests.helpers.bench_workloads"


@pytest.fixture(autouse=True)
def children_find_this_file(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[3]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(root), str(root / "src")]))


def row_of(result: BenchResult, **labels: object) -> Measurement:
    row = result.find(**labels)
    assert row is not None
    return row


@pytest.mark.alone
def test_rates_memory_and_facts_come_from_fresh_processes() -> None:
    rows = [Configuration({"who": "nap", "ms": ms}, f"{HERE}:nap", {"milliseconds": ms}) for ms in (8, 2)]
    result = measure(rows, Rounds(2), seconds=0.1, warm_up=0.0)
    slow, fast = (row_of(result, who="nap", ms=ms) for ms in (8, 2))
    assert 1000 < fast.rate <= 5000  # ten for every nap, and a nap is never too short
    assert fast.rate > 2 * slow.rate
    assert fast.median("answer") == 42
    assert fast.median("peak_mb") > 5
    assert fast.cores_used < 0.8  # sleeping is not work
    stored = json.loads(json.dumps(result.record(more=1)))
    assert stored["machine"]["cores"] >= 1
    assert stored["more"] == 1
    assert [r["labels"] for r in stored["results"]] == [{"who": "nap", "ms": 8}, {"who": "nap", "ms": 2}]
    assert "name" not in stored["results"][0]


def test_a_failing_workload_is_reported_and_the_others_go_on() -> None:
    good = Configuration({"who": "good"}, f"{HERE}:nap", {"milliseconds": 1})
    result = measure([Configuration({"who": "bad"}, f"{HERE}:broken"), good], Rounds(1), seconds=0.05, warm_up=0)
    assert "the workload is broken" in (row_of(result, who="bad").error or "")
    assert row_of(result, who="bad").headline() == "failed"
    assert row_of(result, who="good").rate > 0


def test_a_workload_that_never_ends_is_ended() -> None:
    stuck = Configuration({"who": "stuck"}, f"{HERE}:nap", {"milliseconds": 60_000})
    result = measure([stuck], Rounds(1), seconds=0.1, warm_up=0, timeout=1.5)
    assert "no result within 1.5 s" in (row_of(result, who="stuck").error or "")


def test_labels_must_differ() -> None:
    with pytest.raises(ValueError, match="different labels"):
        measure([Configuration({"who": "a"}, "x:y"), Configuration({"who": "a"}, "x:y")])


def test_the_command_is_kept_without_places_that_mean_nothing_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for words in (["--out", "/here", "--costs", "500 µs"], ["--out=/here", "--costs", "500 µs"]):
        monkeypatch.setattr("sys.argv", ["garrison", "bench", "vector", *words])
        assert command_line() == "garrison bench vector --costs '500 µs'"
    monkeypatch.setattr("sys.argv", ["garrison", "bench", "train", "--rllib-python", "/there/python", "--quick"])
    assert command_line() == "garrison bench train --rllib-python PYTHON --quick"
    monkeypatch.setattr("sys.argv", ["garrison", "bench", "record", "--keep", "/home/me/runs", "--seeds", "5"])
    assert command_line() == "garrison bench record --keep RUNS --seeds 5"


def test_short_numbers() -> None:
    assert [short(x) for x in (1_234_567, 45_600, 789.4, 3.21)] == ["1.23 M", "45.6 k", "789", "3.21"]


def test_a_row_that_finished_nothing_is_kept_and_never_quoted() -> None:
    idle = Sample(0, 1.0, 1.0, 0.0, 0.0, 0.0, 1, {})
    row = Measurement(Configuration({"who": "slow"}, ""), (idle,) * 8)
    result = BenchResult((row,), {}, {})
    assert (row.rate, result.is_steady(row)) == (0.0, False)
    assert json.loads(json.dumps(result.record()))["results"][0]["interval"] is None


def test_a_run_tells_the_middle_and_the_most_of_it() -> None:
    samples = tuple(Sample(1, 1.0, 1.0, 0.0, 0.0, 0.0, 1, {}, share) for share in (0.0, 0.4, 0.1))
    assert stolen([Measurement(Configuration({"who": "x"}, ""), samples)]) == [0.1, 0.4]
    assert stolen([]) == [0.0, 0.0]
