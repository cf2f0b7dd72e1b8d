"""The workloads in JAX do their work, compile before the clock starts, and never again."""

import json
from pathlib import Path

import pytest

pytest.importorskip("jax")
pytest.importorskip("optax")

from garrison import cli
from garrison.bench.publish.documents import TABLES
from garrison.bench.suites import jax_workloads, training_speed

TINY = {"num_envs": 8, "rollout": 16, "minibatches": 2, "epochs": 2}


def test_the_simulator_advances_by_whole_scans() -> None:
    with jax_workloads.simulator(256) as work:
        assert [work.advance(), work.advance()] == [2**17] * 2
        said = work.facts()
    assert said["recompiled"] == 0
    assert said["compile_seconds"] > 0
    assert said["batch_mb"] > 0


@pytest.mark.parametrize(("seeds", "steps"), [(1, 128), (2, 256)])
def test_ppo_on_the_device_advances_by_the_updates_of_all_agents(seeds: int, steps: int) -> None:
    with jax_workloads.ppo_on_device(TINY, 16, seeds) as work:
        assert [work.advance(), work.advance(), work.advance()] == [steps] * 3
        said = work.facts()
    assert said["recompiled"] == 0
    assert said["compile_seconds"] > 0


def test_the_other_loop_advances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax_workloads, "_SCANNED", 256)
    with jax_workloads.purejaxrl_style(TINY, 16) as work:
        assert [work.advance(), work.advance()] == [256, 256]
        assert work.facts()["recompiled"] == 0


def test_what_is_compiled_late_is_counted() -> None:
    import jax

    compilations = jax_workloads._Compilations()
    compilations.expected_until_now()
    jax.jit(lambda x: x * 3.25 + 1.5)(2.0)
    assert compilations.facts() == {"compile_seconds": 0, "recompiled": 1}


@pytest.mark.long
def test_the_commands_measure_print_and_keep_what_the_tables_are_made_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training_speed, "SMALL", TINY)
    assert cli.main(["bench", "sim", "--engine", "jax", "--quick", "--out", str(tmp_path)]) == 0
    assert "compiled in" in capsys.readouterr().out
    assert cli.main(["bench", "train", "--part", "jax", "--quick", "--out", str(tmp_path)]) == 0
    assert json.loads((tmp_path / "sim-jax.json").read_text())["results"]
    assert "| 4,096 |" in TABLES["sim-jax"].make(tmp_path)
    assert "PureJaxRL-style" in TABLES["train-jax"].make(tmp_path)
