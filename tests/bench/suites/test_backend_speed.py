import json
import time
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import garrison.vector
from garrison import cli
from garrison.bench.method.fresh import Configuration
from garrison.bench.method.labels import LIMIT, name_of
from garrison.bench.method.measure import doubling
from garrison.bench.method.measurement import BenchResult, Measurement
from garrison.bench.suites import backend_speed, stepping
from garrison.bench.synthetic import BLOCK, Synthetic, rounds_per_second, spin


@pytest.mark.parametrize("contestant", backend_speed.contestants(), ids=lambda c: name_of(c.labels))
def test_every_contestant_works(contestant: backend_speed.Contestant) -> None:
    module, _, function = contestant.workload.partition(":")
    with getattr(import_module(module), function)(
        env="synthetic", options={"rounds": 10}, num_envs=4, **contestant.arguments
    ) as work:
        assert sum(work.advance() for _ in range(3)) > 0
        assert all(isinstance(value, float) for value in work.facts().values())


def test_a_loop_beside_others_counts_what_it_has_done_in_a_millisecond_not_only_whole_batches() -> None:
    slow = int(0.002 * rounds_per_second())  # on the quickest of machines; twice as long elsewhere
    with stepping.plain("synthetic", {"rounds": slow}, 8, advance_seconds=1e-3) as work:
        assert [work.advance() for _ in range(10)] == [1] * 10
    with stepping.plain("synthetic", {"rounds": slow}, 8) as work:
        assert work.advance() == 8
    with stepping.plain("synthetic", {"rounds": 0}, 8, advance_seconds=10.0) as work:
        assert [work.advance() for _ in range(3)] == [8] * 3


def test_loops_with_a_barrier_count_what_all_have_done() -> None:
    with stepping.barrier("synthetic", {"rounds": 2_000}, 6, workers=2) as work:
        assert all(done > 0 and done % 6 == 0 for done in (work.advance() for _ in range(5)))


def test_uneven_costs_add_up_to_the_same_in_every_environment() -> None:
    envs = [Synthetic(1000, uneven=True) for _ in range(3)]
    for seed, env in enumerate(envs):
        env.reset(seed=seed)
    assert [sum(env._draws) for env in envs] == [sum(envs[0]._draws)] * 3
    assert np.mean(envs[0]._draws) == pytest.approx(1000, rel=0.01)
    assert np.std(envs[0]._draws) > 500
    assert envs[0]._draws != envs[1]._draws


def test_who_cannot_start_so_many_environments_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[Configuration] = []
    monkeypatch.setattr(backend_speed, "_measure", lambda found, *_: rows.extend(found))
    slow, quick = (
        backend_speed.Contestant({"who": who}, "a:b", {}, most) for who, most in (("slow", 20), ("quick", None))
    )
    backend_speed._cells(backend_speed.Arguments(envs=(20, 21), costs=("free",)), "a name", [slow, quick])
    assert [(row.labels["who"], row.labels["envs"]) for row in rows] == [("slow", 20), ("quick", 20), ("quick", 21)]


def test_the_table_of_a_number_of_environments_leaves_out_who_was_not_measured_with_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [
        Measurement(Configuration({"who": who, "envs": num_envs, "cost": "free"}, "a:b"), ())
        for who, num_envs in ((LIMIT, 20), ("slow", 20), (LIMIT, 200))
    ]
    result = BenchResult(tuple(rows), {}, {})
    backend_speed.print_cells(result, 20, ["free"])
    assert "slow" in capsys.readouterr().out
    backend_speed.print_cells(result, 200, ["free"])
    shown = capsys.readouterr().out
    assert LIMIT in shown
    assert "slow" not in shown


def test_auto_is_told_that_its_caller_takes_environments_ready_first(monkeypatch: pytest.MonkeyPatch) -> None:
    make = garrison.vector.make

    def choose_async(env: Any, num_envs: int, backend: str, *, ready_first: bool, **options: Any) -> Any:
        assert (backend, ready_first) == ("auto", True)
        return make(env, num_envs, "async", **options)

    monkeypatch.setattr(garrison.vector, "make", choose_async)
    with stepping.ours("synthetic", {"rounds": 10}, 4, "auto", workers=2) as work:
        assert work.advance() == 2  # what recv returned: half of them, not all


def test_work_is_proportional_to_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    assert rounds_per_second() > 1e4
    assert sum(pauses) > 1.0  # not all of its tries beside the same neighbours
    assert [spin(rounds) for rounds in (0, 1, 8)] == [0, zlib.crc32(BLOCK), zlib.crc32(BLOCK * 8)]


@pytest.mark.long
def test_the_command_measures_prints_and_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ("limit", "garrison", "Gymnasium")
    few = [c for c in backend_speed.contestants() if c.labels["who"] in wanted and "Async" not in str(c.labels)]
    monkeypatch.setattr(backend_speed, "contestants", lambda quick: few)
    arguments = ["--part", "synthetic", "--envs", "4", "--costs", "free", "--repeats", "1", "--seconds", "0.03"]
    assert cli.main(["bench", "vector", *arguments, "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "garrison shared" in printed
    assert "best peer" in printed
    assert (tmp_path / "vector-synthetic.json").exists()


@pytest.mark.long
def test_scaling_measures_doubling_workers_up_to_twice_the_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(backend_speed.system, "cores", lambda: 2)
    arguments = ["--part", "scaling", "--repeats", "1", "--seconds", "0.03", "--out", str(tmp_path)]
    assert cli.main(["bench", "vector", *arguments]) == 0
    rows = json.loads((tmp_path / "vector-scaling.json").read_text())["results"]
    shared = [r["labels"] for r in rows if r["labels"].get("backend") == "shared"]
    assert shared == [{"who": "garrison", "backend": "shared", "workers": n} for n in (1, 2, 4)]
    assert [r["error"] for r in rows] == [None] * (1 + 3 * 5)  # the loop; by workers: limit, four backends
    assert "Efficiency against the ideal" in (tmp_path / "index.html").read_text()


def test_doubling() -> None:
    assert [doubling(n) for n in (1, 2, 3, 8, 12)] == [[1], [1, 2], [1, 2, 3], [1, 2, 4, 8], [1, 2, 4, 8, 12]]


def test_help_and_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench"]) == 0
    assert "vector" in capsys.readouterr().out
    assert cli.main(["bench", "vectr"]) == 2
    assert "did you mean 'vector'" in capsys.readouterr().err
    assert cli.main(["bench", "vector", "--costs", "cheap"]) == 2
