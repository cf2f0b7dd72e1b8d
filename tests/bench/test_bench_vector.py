from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from garrison import cli
from garrison.bench import vector
from garrison.bench.synthetic import Synthetic, rounds_per_second, spin


@pytest.mark.parametrize(("name", "workload", "arguments"), vector.contestants(), ids=lambda value: str(value)[:40])
def test_every_contestant_works(name: str, workload: str, arguments: dict[str, Any]) -> None:
    module = import_module(vector.HERE)
    with getattr(module, workload)(env="synthetic", options={"rounds": 10}, num_envs=4, **arguments) as work:
        assert sum(work.advance() for _ in range(3)) > 0
        assert all(isinstance(value, float) for value in work.facts().values())


def test_uneven_costs_have_the_same_mean() -> None:
    env = Synthetic(1000, uneven=True)
    env.reset(seed=0)
    assert np.mean(env._draws) == pytest.approx(1000, rel=0.15)
    assert np.std(env._draws) > 500


def test_work_is_proportional_to_rounds() -> None:
    assert rounds_per_second() > 1e5
    assert spin(8) == 0 ^ 1 ^ 2 ^ 3 ^ 4 ^ 5 ^ 6 ^ 7


def test_the_command_measures_prints_and_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = [c for c in vector.contestants() if c[0] in ("limit", "Gymnasium Sync") or c[0].startswith("garrison")]
    monkeypatch.setattr(vector, "contestants", lambda: few)
    arguments = ["--part", "synthetic", "--envs", "4", "--costs", "free", "--repeats", "1", "--seconds", "0.03"]
    assert cli.main(["bench", "vector", *arguments, "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "garrison shared" in printed
    assert "best peer" in printed
    assert (tmp_path / "vector-synthetic.json").exists()


def test_the_users_experiment_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(vector.importlib.util, "find_spec", lambda name: None)  # not CybORG: it takes seconds to start
    assert cli.main(["bench", "vector", "--part", "cage2", "--envs", "2", "--repeats", "1", "--seconds", "0.03"]) == 0
    printed = capsys.readouterr().out
    for way in ("sequential", "pipes", "shared memory", "in-process batch", "async", "native"):
        assert way in printed


def test_help_and_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench"]) == 0
    assert "vector" in capsys.readouterr().out
    assert cli.main(["bench", "vectr"]) == 2
    assert "did you mean 'vector'" in capsys.readouterr().err
    assert cli.main(["bench", "vector", "--costs", "cheap"]) == 2
