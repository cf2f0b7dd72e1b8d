"""The first signal asks, the second one ends."""

import os
import signal

import pytest

from garrison.runs.interrupts import Interrupts


def test_the_first_signal_is_noted_and_the_second_interrupts() -> None:
    before = signal.getsignal(signal.SIGINT)
    told = []
    with Interrupts(lambda: told.append(True)) as interrupts:
        assert interrupts.exit_code == 0
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.signal == signal.SIGINT
        assert interrupts.exit_code == 130
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert told == [True]
    assert signal.getsignal(signal.SIGINT) is before
