"""Words that several threads change: nothing is lost, and plain Python has the same functions."""

from threading import Thread
from typing import Any

import numpy as np
import pytest

from garrison.jit import COMPILED, kernel
from garrison.jit.atomics import add, load, pause, store, swap_if


@kernel
def use_all(words: Any) -> int:
    store(words, 1, 7)
    pause()
    before = add(words, 1, 5)
    return 1000 * before + 100 * swap_if(words, 1, 12, 3) + 10 * swap_if(words, 1, 12, 4) + load(words, 1)


@kernel
def count(words: Any, times: int) -> None:
    for _ in range(times):
        add(words, 0, 1)
        word = load(words, 8)
        while not swap_if(words, 8, word, word + 1):
            word = load(words, 8)


def test_every_function_does_what_it_says() -> None:
    words = np.zeros(3, np.int64)
    assert use_all(words) == 7103
    assert words.tolist() == [0, 3, 0]
    plain = np.zeros(3, np.int64)
    assert getattr(use_all, "py_func", use_all)(plain) == 7103


@pytest.mark.skipif(not COMPILED, reason="plain Python runs one thread at a time")
def test_nothing_is_lost_between_threads() -> None:
    words, times = np.zeros(9, np.int64), 200_000
    count(words, 1)
    threads = [Thread(target=count, args=(words, times)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert words[0] == words[8] == 3 * times + 1
