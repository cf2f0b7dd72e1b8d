"""`send` and `recv` of `async`."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import garrison.vector
from tests.helpers.async_contract import *  # noqa: F403 - its tests become tests of this file
from tests.helpers.vector_samples import Gated, Sampler


@pytest.fixture
def backend() -> str:
    return "async"


def test_the_slowest_does_not_hold_the_rest(tmp_path: Path) -> None:
    gate = tmp_path / "open"
    makers = [partial(Gated, gate if i == 1 else None) for i in range(5)]
    envs: Any = garrison.vector.make(makers, backend="async", workers=5, batch_size=2)
    envs.reset(seed=0)
    envs.send(np.full(5, 2))
    for _ in range(10):
        env_ids = envs.recv()[5]
        assert 1 not in env_ids
        envs.send(np.full(len(env_ids), 2), env_ids)
    assert 1 in envs.in_flight
    gate.touch()
    while 1 not in envs.recv()[5]:
        pass
    envs.close()


@pytest.mark.parametrize(("batch_size", "together"), [(1, 1), (4, 4), (6, 4)])
def test_a_worker_reports_its_share_together_and_keeps_half_to_go_on_with(
    batch_size: int, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    envs: Any = garrison.vector.make(Sampler, 8, "async", workers=1, batch_size=batch_size)
    envs.reset(seed=0)
    note, reports = envs._note, []

    def spy(w: int, opcode: bytes, payload: bytes) -> None:
        before = len(envs._ready)
        note(w, opcode, payload)
        reports.append(len(envs._ready) - before)

    monkeypatch.setattr(envs, "_note", spy)
    envs.send(np.full(8, 2))
    envs.recv()
    assert reports[0] == together
    envs.close()
