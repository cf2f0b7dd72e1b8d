"""Ctrl-C while a vector environment is being made: it is always raised, and nothing is left behind."""

import gc
import multiprocessing
import os
import random
import signal
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import garrison.vector
from garrison.workers import ctrl_c
from tests.helpers.vector_samples import Sampler

KINDS = [("serial", "fork"), ("threads", "fork"), ("pipes", "fork"), ("shared", "fork"), ("async", "fork")]
SLOW_KINDS = [("pipes", "spawn"), ("async", "forkserver")]


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    gc.collect()
    gc.freeze()  # many collections follow: they look through what comes from here on, not through the whole suite's
    yield
    assert multiprocessing.active_children() == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def make(backend: str, method: Any) -> Any:
    return garrison.vector.make([partial(Sampler, 3)] * 2, backend=backend, workers=2, start_method=method)


def interrupt_at(call: int | None, backend: str, method: str) -> int:
    """Make environments with a Ctrl-C at the given call of a Python function; return how many calls there were."""
    count = 0
    here = os.getpid()

    def watch(_: Any, event: str, __: Any) -> None:
        nonlocal count
        if event == "call" and os.getpid() == here:
            count += 1
            if count == call:
                signal.raise_signal(signal.SIGINT)

    sys.setprofile(watch)
    try:
        envs = make(backend, method)
    finally:
        sys.setprofile(None)
    envs.close()
    return count


# Some land where Python drops exceptions, and says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("backend", "method", "points"), [(*k, 30) for k in KINDS] + [(*k, 6) for k in SLOW_KINDS])
def test_an_interrupt_at_any_call_is_raised(backend: str, method: str, points: int) -> None:
    make(backend, method).close()  # imports are over
    total = interrupt_at(None, backend, method)
    raised = 0
    for call in sorted(random.Random(0).sample(range(1, total), points)):
        try:
            calls = interrupt_at(call, backend, method)
        except KeyboardInterrupt:
            raised += 1
        else:
            assert (
                calls < call
            )  # so it never came: how many calls there are depends on how often the caller had to wait
        gc.collect()
        assert multiprocessing.active_children() == []
    assert raised > points / 2


class Dropper:
    """Gets a Ctrl-C in its finalizer, where Python drops exceptions."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


class Unlucky(Sampler):
    def __init__(self) -> None:
        super().__init__(3)
        Dropper()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_that_python_drops_is_raised_all_the_same() -> None:
    before = descriptors()
    with pytest.raises(KeyboardInterrupt):
        garrison.vector.make(Unlucky, 2, "serial")
    assert descriptors() <= before


def test_the_process_is_known_before_the_interrupt_comes() -> None:
    steps = []

    def start() -> None:
        with ctrl_c.deferred():
            signal.raise_signal(signal.SIGINT)
            steps.append("inside")
        steps.append("after")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert steps == ["inside"]


def test_a_handler_that_does_not_raise_lets_the_making_go_on() -> None:
    heard = []
    signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        envs = garrison.vector.make(Unlucky, 2, "serial")
        assert len(heard) == 2
        envs.reset(seed=0)
        envs.close()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
