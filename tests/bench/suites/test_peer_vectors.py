"""Who takes part in `garrison bench vector` really steps as often as it says, and begins new episodes."""

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest

from garrison import cli, system
from garrison.bench.method.fresh_process import FreshProcess
from garrison.bench.method.labels import BARRIER, LIMIT, name_of
from garrison.bench.suites import backend_speed, peer_vectors
from garrison.bench.synthetic import LENGTH

ROOT = Path(__file__).parents[3]
ENVS, STEPS = 4, 800
# The loops of the limits never end, and begin before anybody looks.
TAKING_PART = [c for c in backend_speed.contestants() if c.labels["who"] not in (LIMIT, BARRIER)]


@pytest.mark.long
@pytest.mark.parametrize("contestant", TAKING_PART, ids=lambda c: name_of(c.labels))
def test_steps_are_counted_as_they_are_done(
    contestant: backend_speed.Contestant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, workload, arguments, _ = contestant
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]))
    file = tmp_path / "tally"
    given = {"num_envs": ENVS, **arguments, **({"workers": 2} if "workers" in arguments else {})}
    order = {"workload": workload, "arguments": given, "file": str(file), "steps": STEPS}
    with FreshProcess("tests.helpers.counted_steps:advance", order) as process:
        outcome = process.outcome(120)
    assert isinstance(outcome, dict), outcome
    steps, resets = (file.read_bytes().count(letter) for letter in (b"s", b"r"))
    told, done = outcome["told"], steps - outcome["before"]
    # A reset may take the place of a step, as in Gymnasium; what is under way at the end has not been told.
    assert told * LENGTH / (LENGTH + 1) - 2 * ENVS <= done <= told + 2 * ENVS
    assert steps <= LENGTH * resets


def test_a_library_that_is_not_installed_has_no_rows_and_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torchrl" else name)
    monkeypatch.setattr(backend_speed, "measure", _stop)
    assert {c.labels["who"] for c in backend_speed.contestants()} >= {"Tianshou", "PufferLib"}
    assert "TorchRL" not in {c.labels["who"] for c in backend_speed.contestants()}
    with pytest.raises(InterruptedError):
        cli.main(["bench", "vector", "--part", "synthetic"])
    assert capsys.readouterr().out == peer_vectors.not_installed("TorchRL") + "\n"


def test_a_library_with_workers_has_one_per_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(system, "cores", lambda: 7)
    found = {(c.labels["who"], c.labels.get("backend")): c for c in backend_speed.contestants()}
    assert found["TorchRL", "AsyncEnvPool, groups"].arguments == {"kind": "groups", "workers": 7}
    assert found["PufferLib", "Multiprocessing"].arguments == {"kind": "workers", "workers": 7}
    assert found["Tianshou", "Shmem"].arguments == {"kind": "shared"}


def _stop(*_: Any, **__: Any) -> None:
    raise InterruptedError
