"""A run whose threads have no cores says so once; one on a healthy machine never does."""

import pytest

from garrison.runs.follower import Follower, Limits
from garrison.runs.starvation import WINDOW_SECONDS, StarvationWatch
from garrison.runs.view import NoView
from garrison.workers.usage import Snapshot, ThreadTimes

Window = tuple[ThreadTimes, ...]
"""For each thread, the seconds in which it ran and those in which it queued."""
STARVED: Window = ((7.0, 8.0), (7.0, 8.0))


def snapshots(windows: list[Window]) -> list[Snapshot]:
    """Return what is read at the beginning and after each window."""
    totals = dict.fromkeys(range(9), (100.0, 100.0))
    found: list[Snapshot] = [{1: dict(totals)}]
    for window in windows:
        totals |= {k: (totals[k][0] + ran, totals[k][1] + queued) for k, (ran, queued) in enumerate(window)}
        found.append({1: dict(totals)})
    return found


def sentences(windows: list[Window], seconds: float = WINDOW_SECONDS) -> list[str]:
    """Return what is said at looks that are so many seconds apart."""
    readings, now = iter(snapshots(windows)), [0.0]
    watch = StarvationWatch(lambda: next(readings), lambda: now[0])
    found = []
    for k in range(len(windows) + 1):
        now[0] = 1000.0 + k * seconds
        found.append(watch.look())
    return found


@pytest.mark.parametrize(
    "window",
    [
        ((15.0, 0.2), (14.0, 0.3)),  # a core each
        ((15.0, 0.0),),
        ((7.5, 7.5),),  # one thread on a machine that others use: fewer threads would not help
        ((9.0, 3.0), (9.0, 3.0)),  # beside some other work
        ((0.0, 0.0), (0.0, 0.0)),  # the learner waits for its environments
        ((9.0, 0.0), (9.0, 0.0)),  # a system that does not count the queue
    ],
)
def test_a_run_that_threads_help_says_nothing(window: Window) -> None:
    assert not any(sentences([window] * 4))


def test_threads_that_mostly_queue_are_said_once() -> None:
    found = sentences([((15.0, 0.2), (14.0, 0.3)), STARVED, STARVED, STARVED])
    assert [bool(text) for text in found] == [False, False, True, False, False]
    assert found[2] == (
        "the threads of this run wait 53% of their time for a core, and then for each other: --threads 1 may be faster."
    )


def test_a_short_burst_says_nothing() -> None:
    assert not any(sentences([((0.4, 0.6), (0.4, 0.6)), ((1.0, 0.0), (1.0, 0.0))], seconds=1.0))


def test_what_was_before_the_first_look_does_not_count() -> None:
    assert sentences([]) == [""]


def test_the_follower_passes_the_sentence_on() -> None:
    said: list[str] = []

    class Heard(NoView):
        def say(self, text: str) -> None:
            said.append(text)

    readings, moments = iter(snapshots([STARVED])), iter([0.0, 15.0, 30.0])
    follower = Follower(
        Limits(None, None, 60.0), Heard(), starvation=StarvationWatch(lambda: next(readings), lambda: next(moments))
    )
    for step in (1, 2, 3):
        follower.log(step, {})
    assert len(said) == 1
    assert "--threads 1" in said[0]
