"""More workers than usual: descriptors with high numbers, and a word about how far the making is."""

import logging
import os
import resource
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import garrison.vector
from garrison.vector import env_workers
from tests.helpers.vector_samples import Sampler, assert_same

HIGHEST_OF_SELECT = 1024


@pytest.fixture
def only_high_descriptors() -> Iterator[None]:
    """Occupy every descriptor that select() could take."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2 * HIGHEST_OF_SELECT:
        pytest.skip(f"only {hard} descriptors are allowed here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * HIGHEST_OF_SELECT), hard))
    taken = [os.open(os.devnull, os.O_RDONLY)]
    while taken[-1] <= HIGHEST_OF_SELECT:
        taken.append(os.dup(taken[0]))
    yield
    for descriptor in taken:
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("only_high_descriptors")
@pytest.mark.parametrize(
    ("backend", "method"),
    [("pipes", "fork"), ("shared", "fork"), ("async", "fork"), ("shared", "spawn"), ("async", "forkserver")],
)
def test_descriptors_above_those_of_select(backend: str, method: Any) -> None:
    reference = garrison.vector.make(Sampler, 4, "serial")
    envs: Any = garrison.vector.make(Sampler, 4, backend, workers=2, start_method=method)
    assert min(handle.replies.fileno() for handle in envs._workers.pool._workers.values()) >= HIGHEST_OF_SELECT
    assert_same(reference.reset(seed=0), envs.reset(seed=0))
    assert_same(reference.step(np.full(4, 2)), envs.step(np.full(4, 2)))
    envs._workers.discard_replies(0)  # waits for one worker alone, as after a failure
    if backend == "async":
        envs.send(np.full(4, 2))
        assert len(envs.recv()[5]) == 2
    envs.close()


def test_the_making_of_many_tells_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(env_workers, "PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(env_workers, "MANY", 3)
    with caplog.at_level(logging.WARNING, "garrison.vector"):
        garrison.vector.make(Sampler, 3, "shared", workers=3).close()
        assert "1 of 3 workers are ready after 0 s" in caplog.text
        caplog.clear()
        garrison.vector.make(Sampler, 2, "shared", workers=2).close()
    assert caplog.text == ""
