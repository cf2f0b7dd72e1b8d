"""Threads beside the caller's: every call once, exceptions handed over, nothing left behind."""

import gc
import threading
from functools import partial

import pytest

from garrison.cage2.thread_team import ThreadTeam


def test_every_call_is_made_once() -> None:
    team = ThreadTeam(2)
    made: list[int] = []
    for _ in range(20):
        made.clear()
        assert team.run([partial(lambda k: made.append(k) or k, k) for k in range(50)]) == sum(range(50))
        assert sorted(made) == list(range(50))
    team.close()
    team.close()


def test_an_exception_reaches_the_caller_after_all_are_through() -> None:
    team = ThreadTeam(2)
    with pytest.raises(ZeroDivisionError):
        team.run([lambda: 1, lambda: 1 // 0, lambda: 1])
    assert team.run([lambda: 1, lambda: 2]) == 3
    team.close()


def test_the_threads_of_a_forgotten_team_end() -> None:
    before = set(threading.enumerate())
    team = ThreadTeam(3)
    team.run([lambda: 1])
    threads = [thread for thread in threading.enumerate() if thread not in before]
    assert len(threads) == 3
    del team
    gc.collect()
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()
