"""CartPole and Pendulum: EnvPool beside Gymnasium and ours, or without it where it is not installed."""

import importlib.util
import os
from importlib import import_module
from pathlib import Path

import pytest

from garrison.bench.method.fresh import Configuration
from garrison.bench.method.fresh_process import FreshProcess
from garrison.bench.method.labels import name_of
from garrison.bench.suites import classic_control

ROOT = Path(__file__).parents[3]
PYTHON_ONLY = [row for row in classic_control.rows() if row.labels["who"] != "EnvPool" and row.labels["envs"] == 64]


@pytest.mark.parametrize("row", PYTHON_ONLY, ids=lambda row: str(row.name))
def test_every_row_works(row: Configuration) -> None:
    module, _, function = row.workload.partition(":")
    arguments = row.arguments | {"num_envs": 4}
    with getattr(import_module(module), function)(**arguments) as work:
        assert sum(work.advance() for _ in range(3)) > 0


@pytest.mark.skipif(not importlib.util.find_spec("envpool"), reason=classic_control.not_installed("EnvPool"))
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_envpools_steps_are_counted_as_they_are_done(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]))
    order = {"arguments": {"num_envs": 8, "kind": kind, "threads": 2}, "times": 50}
    with FreshProcess("tests.helpers.counted_steps:elapsed", order) as process:
        outcome = process.outcome(60)
    assert isinstance(outcome, dict), outcome
    if kind == "sync":
        assert outcome["told"] == 50 * 8
        assert outcome["elapsed"] == [51] * 8
    else:  # 50 halves of 8, the first two of them resets
        assert outcome["told"] == 50 * 4
        assert all(5 <= steps <= 50 for steps in outcome["elapsed"])


def test_everybody_is_compared_with_envpool_in_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    rows = classic_control.rows()
    assert classic_control.missing() == []
    assert {name_of(row.partner or {}) for row in rows if row.labels["env"] == "CartPole-v1"} == {
        "",
        "EnvPool sync, CartPole-v1, 64 environments",
        "EnvPool sync, CartPole-v1, 1,024 environments",
    }
    assert len({name_of(row.partner) for row in rows if row.partner}) == 4
    own = [row.labels["env"] for row in rows if row.labels.get("backend") == "own batch"]
    assert own == ["CartPole-v1"] * 2  # Pendulum has none


def test_without_envpool_the_limit_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "EnvPool is not installed" in classic_control.missing()[0]
    rows = classic_control.rows(quick=True)
    assert {name_of(row.partner or {}) for row in rows} == {"", "limit, CartPole-v1, 64 environments"}
    assert not any(row.labels["who"] == "EnvPool" for row in rows)
