"""What every vector backend promises when an environment raises, or a worker process dies.

A test file that imports these tests has two fixtures: `backend` (any) and `process_backend` (one with processes).
"""

import gc
import os
import signal
from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import garrison.vector
from garrison.vector import EnvFailed, WorkerDied
from tests.helpers.faulty_envs import Faulty
from tests.helpers.processes import gone

GO, FAULT = np.zeros(4, int), np.ones(4, int)


def make(backend: str, fault: str, at: int = 2, **kwargs: Any) -> Any:
    makers = [partial(Faulty, fault if i == at else "") for i in range(4)]
    return garrison.vector.make(makers, backend=backend, **{"workers": 2, **kwargs})


def test_an_environment_that_raises_is_named_with_its_traceback(backend: str) -> None:
    envs = make(backend, "raise")
    envs.reset(seed=0)
    envs.step(GO)
    with pytest.raises(EnvFailed, match="environment 2 raised ValueError in step\\(\\): the dragon woke up") as caught:
        envs.step(FAULT)
    assert caught.value.index == 2
    text = caught.value.details or "".join(__import__("traceback").format_exception(caught.value))
    assert 'raise ValueError("the dragon woke up")' in text
    assert "_misbehave" in text
    observations, _ = envs.reset(seed=0)  # and it can go on
    assert observations[:, 0].tolist() == [0, 0, 0, 0]
    assert envs.step(GO)[0][:, 0].tolist() == [1, 1, 1, 1]
    envs.close()


def test_raising_in_reset_and_in_making(backend: str) -> None:
    envs = make(backend, "raise in reset")
    envs.reset(seed=0)
    with pytest.raises(EnvFailed, match="environment 2 raised RuntimeError in reset\\(\\): reset is broken"):
        envs.reset(options={"now": True})
    envs.close()
    with pytest.raises((EnvFailed, RuntimeError), match="no such scenario"):
        make(backend, "raise in making")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("wrong shape", r"environment 2 in step\(\): the observation has shape \(3,\), but its space has \(2,\)"),
        ("wrong type", "environment 2 in step\\(\\): the observation has type complex64, but its space has float32"),
        ("four values", "environment 2 returned a tuple of 4 from step\\(\\); expected"),
    ],
)
def test_results_that_do_not_fit_are_told(backend: str, fault: str, message: str) -> None:
    envs = make(backend, fault)
    envs.reset(seed=0)
    with pytest.raises(EnvFailed, match=message):
        envs.step(FAULT)
    envs.close()


def test_a_worker_killed_while_idle_is_noticed_at_the_next_step(process_backend: str) -> None:
    envs = make(process_backend, "")
    envs.reset(seed=0)
    os.kill(envs.pids[0], signal.SIGKILL)
    assert gone(envs.pids[:1])
    with pytest.raises(WorkerDied, match="environments 0-1"):
        envs.step(GO)


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda m: m.value)
def test_a_dead_worker_is_restarted_with_its_episodes_truncated(process_backend: str, mode: AutoresetMode) -> None:
    envs = make(process_backend, "die", on_worker_death="restart", autoreset_mode=mode)
    pids = envs.pids
    envs.reset(seed=0)
    envs.step(GO)
    observations, rewards, terminations, truncations, infos = envs.step(FAULT)
    assert observations[:, 0].tolist() == [2, 2, 0, 0]
    assert rewards.tolist() == [1, 1, 0, 0]
    assert truncations.tolist() == [False, False, True, True]
    assert not terminations.any()
    assert infos["worker_restarted"].tolist() == [False, False, True, True]
    assert envs.pids[0] == pids[0]
    assert envs.pids[1] != pids[1]
    if mode is AutoresetMode.DISABLED:
        envs.reset(options={"reset_mask": truncations.copy()})
        assert envs.step(GO)[0][:, 0].tolist() == [3, 3, 1, 1]
    elif mode is AutoresetMode.NEXT_STEP:
        assert envs.step(GO)[0][:, 0].tolist() == [3, 3, 0, 0]
        observations, _, _, truncations, infos = envs.step(GO)
        assert observations[:, 0].tolist() == [4, 4, 1, 1]
        assert not truncations.any()
        assert infos == {}
    else:
        assert envs.step(GO)[0][:, 0].tolist() == [3, 3, 1, 1]
    envs.close()


def test_restart_after_a_kill_while_idle_and_in_reset(process_backend: str) -> None:
    envs = make(process_backend, "", on_worker_death="restart")
    envs.reset(seed=0)
    envs.step(GO)
    for attempt in range(2):
        os.kill(envs.pids[0], signal.SIGKILL)
        assert gone(envs.pids[:1])
        if attempt:
            observations, _ = envs.reset(seed=0)
            assert observations[:, 0].tolist() == [0, 0, 0, 0]
        else:
            _, rewards, _, truncations, _ = envs.step(GO)
            assert rewards.tolist() == [0, 0, 1, 1]
            assert truncations.tolist() == [True, True, False, False]
    assert envs.step(GO)[0][:, 0].tolist() == [1, 1, 1, 1]
    envs.close()


def test_a_forgotten_vector_environment_ends_its_workers(process_backend: str) -> None:
    envs = make(process_backend, "")
    pids = envs.pids
    envs.reset()
    del envs
    gc.collect()
    assert gone(pids)
