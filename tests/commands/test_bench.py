"""`garrison bench`: it measures, writes JSON and refuses nonsense."""

import json
from pathlib import Path

import pytest

from garrison import cli
from garrison.bench.method.fresh import Configuration
from garrison.bench.suites import simulator_speed


def test_bench_sim_measures_every_row_and_writes_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        simulator_speed,
        "configurations",
        lambda quick: [
            Configuration(simulator_speed.SINGLE, f"{simulator_speed.SIMULATORS}:single"),
            Configuration(simulator_speed.batch(1000), f"{simulator_speed.SIMULATORS}:native", {"num_envs": 1000}),
        ],
    )
    monkeypatch.setattr(
        simulator_speed,
        "startup",
        lambda repeats: {"import_seconds": 0.1, "warm_first_step_seconds": 0.5, "cold_first_step_seconds": 9.0},
    )
    assert cli.main(["bench", "sim", "--repeats", "1", "--out", str(tmp_path)]) == 0
    assert "a step of one environment: " in capsys.readouterr().out
    report = json.loads((tmp_path / "sim.json").read_text())
    assert [row["error"] for row in report["results"]] == [None, None]
    assert all(row["steps_per_second"] > 1000 for row in report["results"])
    assert report["startup"]["cold_first_step_seconds"] == 9.0
    assert report["machine"]["sim_hash"]


def test_bench_lists_its_benches_and_suggests_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench"]) == 0
    assert "sim" in capsys.readouterr().out
    assert cli.main(["bench", "sin"]) == 2
    assert "did you mean 'sim'" in capsys.readouterr().err
