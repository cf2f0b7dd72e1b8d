"""`send` and `recv` of `async`."""

import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import garrison.vector
from garrison.errors import UserError
from garrison.vector import worker
from garrison.workers import channel
from tests.helpers.async_contract import *  # noqa: F403 - its tests become tests of this file
from tests.helpers.vector_samples import Gated, Sampler, assert_same


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


def test_recv_after_an_interrupted_recv_returns_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    envs = garrison.vector.make(Sampler, 4, "async", workers=2, batch_size=4, timeout=5)
    serial = garrison.vector.make(Sampler, 4, "serial")
    workers = envs._workers
    wait = workers.collect_some

    def interrupted(waiting: set[int]) -> Any:
        yield from wait(waiting)  # the answers of one worker are noted, those of the other are not yet there
        monkeypatch.setattr(workers, "collect_some", wait)
        raise KeyboardInterrupt

    for is_called in (False, True):
        serial.reset(seed=0)
        expected = serial.step(np.full(4, 2))
        envs.reset(seed=0)
        envs.send(np.full(4, 2))
        monkeypatch.setattr(workers, "collect_some", interrupted)
        with pytest.raises(KeyboardInterrupt):
            envs.recv()
        if is_called:
            assert envs.get_attr("t") == (1,) * 4  # and the results stay
        observations, rewards, *_, env_ids = envs.recv()
        assert sorted(env_ids.tolist()) == [0, 1, 2, 3]
        assert_same(expected[0][env_ids], observations)
        assert_same(expected[1][env_ids], rewards)
        assert len(envs.in_flight) == 0
    envs.close()


def test_results_that_an_interrupt_tore_away_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    envs = garrison.vector.make(Sampler, 2, "async", workers=2, batch_size=2, timeout=5)
    envs.reset(seed=0)
    receive = channel.receive

    def torn(pipe: Any) -> Any:
        receive(pipe)
        monkeypatch.setattr(channel, "receive", receive)
        raise KeyboardInterrupt

    envs.send(np.full(2, 2))
    monkeypatch.setattr(channel, "receive", torn)
    with pytest.raises(KeyboardInterrupt):
        envs.recv()
    with pytest.raises(UserError, match=r"the results of environments \[[01]\] are lost .*call reset\(\)"):
        envs.recv()
    assert len(envs.recv()[5]) == 1  # the other one
    with pytest.raises(UserError, match="nothing to wait for"):
        envs.recv()
    envs.reset(seed=0)
    assert len(envs.step(np.full(2, 2))[0]) == 2
    envs.close()


class Wordy(Sampler):
    """Observations and actions that are larger than what a pipe holds."""

    def __init__(self) -> None:
        super().__init__(observations="text", actions="text")

    def step(self, action: Any) -> Any:
        return action[::-1], *super().step(action)[1:]


def test_large_values_both_ways_block_nobody() -> None:
    envs: Any = garrison.vector.make(Wordy, 4, "async", workers=1, batch_size=4)
    envs.reset(seed=0)
    for _ in range(3):
        words = [chr(97 + i) * 200_000 + "!" for i in range(4)]
        for i in range(4):
            envs.send((words[i],), [i])  # while the worker tells of the one before
        observations, *_, env_ids = envs.recv()
        assert [observations[k] for k in np.argsort(env_ids)] == [word[::-1] for word in words]


class Costly(Sampler):
    """Takes longer than is worth waiting for before it is reported."""

    def step(self, action: Any) -> Any:
        time.sleep(worker.REPORT_SECONDS)
        return super().step(action)


@pytest.mark.parametrize(("batch_size", "sizes"), [(1, [1] * 8), (4, [4, 4]), (6, [6, 1, 1]), (5, [5, 2, 1])])
def test_a_worker_reports_its_share_together_and_what_is_less_by_halves(
    batch_size: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    envs: Any = garrison.vector.make(Costly, 8, "async", workers=1, batch_size=batch_size)
    envs.reset(seed=0)
    note, reports = envs._note, []

    def spy(w: int, opcode: bytes, payload: bytes) -> None:
        before = len(envs._ready)
        note(w, opcode, payload)
        reports.append(len(envs._ready) - before)

    monkeypatch.setattr(envs, "_note", spy)
    envs.send(np.full(8, 2))
    while len(envs.in_flight):
        envs.recv()
    assert reports == sizes
    envs.close()
