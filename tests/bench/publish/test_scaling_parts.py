"""Rows that were made from known parts give these parts back; what is missing is not made up."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from garrison.bench.publish import scaling_parts as parts_of
from garrison.bench.publish.scaling_forecasts import cases, checked_sizes
from garrison.bench.publish.scaling_parts import batch, on_two_cores, shared, training
from garrison.bench.publish.scaling_tables import (
    batch_table,
    check_rows,
    check_table,
    cores_table,
    forecast_rows,
    nodes_table,
    part_rows,
    parts_table,
)
from garrison.bench.publish.stored import StoredRow, find
from garrison.bench.scaling_model import training_seconds
from tests.helpers.scaling_rows import FACTORS, NATIVE, TRAINED, WORKERS, row, scaling_rows

NS = 1e-9


def result_of(rows: list[StoredRow], cores: int = 2) -> dict[str, Any]:
    method = {"command": "garrison bench scaling", "repeats": None, "rounds": 6, "seconds": 1.0, "ended_by": "steady"}
    machine = {"cpu": "one", "cores": cores, "load_before": 0.0, "python": "3", "sim_hash": "a"}
    return {"machine": machine, "method": method, "results": rows, "left_out": []}


def test_the_native_parts_are_found_again() -> None:
    found = parts_of.native_parts(scaling_rows())
    assert len(found) == len(FACTORS)
    first = found[0]
    for name in ("call", "near", "wake", "each", "in_step", "bytes_least", "bytes_most", "copy_one", "copy_pair"):
        assert getattr(first, name) == pytest.approx(getattr(NATIVE, name), rel=0.02), name
    assert first.costs == pytest.approx(NATIVE.costs)


def test_the_parts_of_workers_are_found_again() -> None:
    first = parts_of.worker_parts(scaling_rows())[0]
    # Environments that cost nothing take no slow neighbour into account that the loops of 500 µs have met.
    for name in ("fixed", "second", "each", "caller", "inside", "together"):
        assert getattr(first, name) == pytest.approx(getattr(WORKERS, name), rel=0.05), name
    assert first.steps == pytest.approx(WORKERS.steps)


def test_a_batch_cannot_move_more_than_the_memory_that_was_measured() -> None:
    rows = scaling_rows()
    quick = find(rows, **batch(1_000_000, 2))
    assert quick is not None
    for sample in quick["samples"]:
        sample["wall_seconds"] = sample["steps"] * 50 * NS
    assert parts_of.native_parts(rows)[0].bytes_most == pytest.approx(16e9 * 50 * NS)


def test_noise_makes_no_part_negative() -> None:
    rows = scaling_rows()
    for labels in (on_two_cores(batch(4_000, 2)), on_two_cores(batch(4_000, 8)), shared(512, 2), shared(2, 1)):
        noisy = find(rows, **labels)
        assert noisy is not None
        for sample in noisy["samples"]:
            sample["wall_seconds"] /= 30
    native, workers = parts_of.native_parts(rows)[0], parts_of.worker_parts(rows)[0]
    assert min(native.wake, native.each, native.in_step) >= 0
    assert min(workers.fixed, workers.second, workers.each, workers.caller, workers.inside) >= 0
    assert all(case.rate(96).low > 0 for case in cases(rows))


def test_what_was_not_measured_is_not_forecast() -> None:
    rows = scaling_rows()
    without_copies = [each for each in rows if each["labels"]["who"] != "memory copy"]
    assert parts_of.native_parts(without_copies) == []
    names = [case.name for case in cases(without_copies)]
    assert names == ["`shared`, steps of 50 µs", "`shared`, steps of 500 µs", "`shared`, steps of 3 ms", names[-1]]
    assert cases([]) == []
    assert part_rows(result_of([])) == forecast_rows(result_of([])) == check_rows(result_of([])) == []


def test_one_batch_of_the_cache_and_the_largest_out_of_it_are_forecast() -> None:
    assert checked_sizes([1, 1_000, 10_000]) == [10_000]
    assert checked_sizes([1, 10_000, 100_000, 1_000_000]) == [10_000, 1_000_000]


def test_forecasts_are_made_for_every_machine() -> None:
    rows = forecast_rows(result_of(scaling_rows()))
    assert [cells[0] for cells in rows][:2] == [
        "native batch, 10,000 environments",
        "native batch, 1,000,000 environments",
    ]
    assert all(len(cells) == 5 and "to" in cells[4] for cells in rows)
    ppo = next(case for case in cases(scaling_rows()) if case.name.startswith("PPO"))
    assert ppo.rate(96).low == pytest.approx(1 / training_seconds(TRAINED, 96, hopeful=False), rel=0.03)


def test_a_true_forecast_is_confirmed_and_a_false_one_is_not() -> None:
    verdicts = {cells[:2]: cells[-1] for cells in check_rows(result_of(scaling_rows(8, slower=0.97), 8))}
    native = "native batch, 10,000 environments"
    assert verdicts[native, "2"] == verdicts[native, "4"] == verdicts[native, "8"] == "in the range"
    assert verdicts["`shared`, steps of 50 µs", "1"] == "in the range"
    slow = {cells[:2]: cells[-1] for cells in check_rows(result_of(scaling_rows(8, slower=1.5), 8))}
    assert (slow[native, "2"], slow[native, "8"]) == ("in the range", "below")


def test_what_a_part_was_taken_from_does_not_check_the_forecast() -> None:
    names = {cells[0] for cells in check_rows(result_of(scaling_rows()))}
    assert "PPO on the native batch" not in names
    four = [*scaling_rows(4), row(training(4), training_seconds(TRAINED, 4, hopeful=False))]
    assert "PPO on the native batch" in {cells[0] for cells in check_rows(result_of(four, 4))}


@pytest.mark.parametrize("table", [batch_table, parts_table, cores_table, check_table])
def test_the_documents_have_every_table(table: Callable[[Path], str], tmp_path: Path) -> None:
    result = result_of(scaling_rows()) | {"left_out": ["1,000,000,000 environments are left out: too many."]}
    (tmp_path / "scaling.json").write_text(json.dumps(result))
    text = table(tmp_path)
    assert "\n|---" in text
    assert "(benchmarks/scaling.json)" in text
    assert ("are left out" in text) == (table is batch_table)


def test_nodes_are_forecast_from_the_stored_costs_of_a_trajectory() -> None:
    text = nodes_table(Path(__file__).parents[3] / "benchmarks")
    assert "| steps of 3 ms | " in text
    assert "learner)" in text
