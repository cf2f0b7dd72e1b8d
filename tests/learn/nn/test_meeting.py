"""Threads that meet in compiled code: nobody goes ahead, and nobody waits for who is gone."""

from threading import Thread

import numpy as np

from garrison.jit import kernel
from garrison.learn.nn.meeting import Meeting, leave, make_meeting, meet, open_meeting

ROUNDS = 300


@kernel
def run(meeting: Meeting, me: int, written: np.ndarray, seen: np.ndarray) -> None:
    """Note after each meeting the least that anybody has written; -1 if somebody did not come."""
    for number in range(seen.shape[1]):
        written[me] = number
        least = number if meet(meeting, me) else -1
        for other in range(meeting.threads):
            least = min(least, written[other])
        seen[me, number] = least
        meet(meeting, me)


def test_after_a_meeting_everybody_sees_what_all_have_written() -> None:
    meeting, written, seen = make_meeting(3), np.full(3, -1), np.zeros((3, ROUNDS), np.int64)
    open_meeting(meeting)
    threads = [Thread(target=run, args=(meeting, me, written, seen)) for me in (1, 2)]
    for thread in threads:
        thread.start()
    run(meeting, 0, written, seen)
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(seen, np.tile(np.arange(ROUNDS), (3, 1)))


def test_nobody_waits_for_a_thread_that_is_gone() -> None:
    meeting, written, seen = make_meeting(2), np.full(2, -1), np.zeros((2, 5), np.int64)
    open_meeting(meeting)
    leave(meeting, 0)
    thread = Thread(target=run, args=(meeting, 1, written, seen), daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert (seen[1] == -1).all()
