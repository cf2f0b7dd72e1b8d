"""Silence: who owes an answer, for how long, and what counts as a sign of life."""

import fcntl
import os
import resource
import select

import pytest

from garrison.workers import launch
from garrison.workers.launch import has_input
from garrison.workers.watchdog import Watchdog


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("garrison.workers.watchdog.time.monotonic", lambda: now[0])
    return now


def test_only_who_owes_an_answer_can_be_late(clock: list[float]) -> None:
    dog = Watchdog(3, timeout=8.0)
    dog.expect(0)
    dog.expect(1)
    clock[0] += 6
    dog.heard(1)
    clock[0] += 3
    assert dog.late(range(3)) == [0]
    dog.finished(0)
    clock[0] += 60
    assert dog.late(range(3)) == [1]


def test_being_asked_again_is_no_sign_of_life(clock: list[float]) -> None:
    dog = Watchdog(1, timeout=8.0)
    dog.expect(0)
    clock[0] += 5
    dog.expect(0)
    clock[0] += 4
    assert dog.late([0]) == [0]


def test_a_new_worker_has_more_time(clock: list[float]) -> None:
    dog = Watchdog(1, timeout=8.0, starting_seconds=100.0)
    dog.started(0)
    clock[0] += 99
    assert (dog.late([0]), dog.allowed(0)) == ([], 100.0)
    clock[0] += 2
    assert dog.late([0]) == [0]
    dog.starting.discard(0)
    assert dog.allowed(0) == 8.0


def test_progress_is_a_sign_of_life(clock: list[float]) -> None:
    dog = Watchdog(1, timeout=8.0)
    position = [1]
    dog.expect(0)
    for _ in range(10):
        clock[0] += 5
        position[0] += 1
        assert dog.late([0], lambda worker: position[0]) == []
    clock[0] += 9
    assert dog.late([0], lambda worker: position[0]) == [0]


def test_without_a_timeout_nobody_is_late(clock: list[float]) -> None:
    dog = Watchdog(1, timeout=None)
    dog.started(0)
    clock[0] += 1e9
    assert (dog.late([0]), dog.patience) == ([], None)


def test_descriptors_above_1023_can_be_looked_at() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, before[1]), before[1]))
    reader, writer = os.pipe()
    high = fcntl.fcntl(reader, fcntl.F_DUPFD, 1500)
    try:
        assert not has_input(high)
        os.write(writer, b"x")
        assert has_input(high)
        os.read(reader, 1)
        os.close(writer)
        assert has_input(high)  # the end of a pipe counts
    finally:
        os.close(high)
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_who_looks_for_input_offers_its_core_until_there_is_some(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    offers = []

    def offer() -> None:
        offers.append(len(offers))
        if len(offers) == 3:
            os.write(writer, b"x")

    monkeypatch.setattr(launch, "_offer_core", offer)
    try:
        launch.look_for_input(poll, 60.0)
        assert offers == [0, 1, 2]
        os.read(reader, 1)
        launch.look_for_input(poll, 0.0)  # gives up in time
    finally:
        os.close(reader)
        os.close(writer)
