"""Threads beside the caller's: every call once, exceptions handed over, nothing left behind."""

import gc
import threading
from functools import partial

import pytest

from garrison.cage2.lanes import Lanes


def test_every_call_is_made_once() -> None:
    lanes = Lanes(2)
    made: list[int] = []
    for _ in range(20):
        made.clear()
        assert lanes.run([partial(lambda k: made.append(k) or k, k) for k in range(50)]) == sum(range(50))
        assert sorted(made) == list(range(50))
    lanes.close()
    lanes.close()


def test_an_exception_reaches_the_caller_after_all_are_through() -> None:
    lanes = Lanes(2)
    with pytest.raises(ZeroDivisionError):
        lanes.run([lambda: 1, lambda: 1 // 0, lambda: 1])
    assert lanes.run([lambda: 1, lambda: 2]) == 3
    lanes.close()


def test_forgotten_lanes_end() -> None:
    before = set(threading.enumerate())
    lanes = Lanes(3)
    threads = [thread for thread in threading.enumerate() if thread not in before]
    assert len(threads) == 3
    del lanes
    gc.collect()
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()
