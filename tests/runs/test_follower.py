"""The clock of a run: it starts with the first step, and everything that follows time follows it."""

from typing import Any

import pytest

from garrison.runs.follower import Follower, Limits
from garrison.runs.view import NoView


class FakeTime:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def follower(time: FakeTime, seconds: float | None, resumed: dict[str, Any] | None = None) -> Follower:
    return Follower(Limits(None if seconds else 100, seconds, 60.0), NoView(), resumed=resumed, now=time)


def test_compiling_and_starting_are_no_part_of_a_duration() -> None:
    time = FakeTime()
    run = follower(time, seconds=15.0)
    time.now += 500.0  # a cold cache
    assert (run.seconds, run.share, run.stop) == (0.0, 0.0, False)
    run.started()
    time.now += 6.0
    run.log(10, {})
    assert run.share == pytest.approx(0.4)
    assert run.last["time/elapsed_time"] == 6.0
    assert not run.stop
    run.started()  # only the first one counts
    time.now += 9.0
    assert run.stop


def test_a_resumed_run_goes_on_from_the_time_it_had() -> None:
    time = FakeTime()
    run = follower(time, 15.0, {"seconds": 10.0, "state": {"steps": 50}})
    time.now += 500.0
    assert run.seconds == 10.0
    assert run.share == pytest.approx(10 / 15)
    run.started()
    time.now += 2.0
    assert run.seconds == 12.0


def test_where_steps_decide_the_clock_does_not() -> None:
    time = FakeTime()
    run = follower(time, None)
    run.started()
    time.now += 500.0
    run.log(25, {})
    assert (run.share, run.stop) == (0.25, False)


def test_the_time_ends_no_run_before_its_first_update() -> None:
    time = FakeTime()
    run = follower(time, 15.0)
    run.started()
    time.now += 20.0
    assert not run.stop
    run.log(10, {})
    assert run.stop


def test_the_clock_of_a_learner_that_never_says_that_it_has_started_starts_with_its_first_update() -> None:
    time = FakeTime()
    run = follower(time, 15.0)
    time.now += 500.0
    run.log(10, {})
    assert run.last["time/elapsed_time"] == 0.0
    time.now += 15.0
    assert run.stop
