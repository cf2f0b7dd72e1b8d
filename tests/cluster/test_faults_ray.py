"""When a Ray actor breaks, dies or is stuck: what other backends promise, and nothing left behind."""

import os
import signal
from typing import Any

import numpy as np
import pytest

from garrison.errors import UserError
from garrison.vector import EnvTimeout, WorkerDied
from tests.helpers.backend_faults import *  # noqa: F403 - its tests become tests of this file
from tests.helpers.backend_faults import FAULT, GO, make
from tests.helpers.processes import gone

pytestmark = pytest.mark.usefixtures("local_ray")


@pytest.fixture
def backend() -> str:
    return "ray"


@pytest.fixture
def process_backend() -> str:
    return "ray"


@pytest.mark.parametrize("fault", ["die", "exit"])
def test_a_dead_worker_is_noticed(fault: str) -> None:
    envs = make("ray", fault)
    pids = envs.pids
    envs.reset(seed=0)
    with pytest.raises(WorkerDied, match=r"worker 1 \(a Ray actor, environments 2-3\) was lost"):
        envs.step(FAULT)
    assert gone(pids)
    with pytest.raises(UserError, match="closed because worker 1"):
        envs.step(GO)
    envs.close()


def test_lost_episodes_are_reported_once_each() -> None:
    envs = make("ray", "", on_worker_death="restart", batch_size=2)
    envs.reset(seed=0)
    envs.send(GO[:2], [0, 2])  # 1 and 3 stay idle
    assert sorted(envs.recv()[5].tolist()) == [0, 2]
    os.kill(envs.pids[0], signal.SIGKILL)
    envs.send(GO, [0, 1, 2, 3])
    truncated = {}
    for _ in range(2):
        _, _, _, truncations, _, ids = envs.recv()
        truncated.update(zip(ids.tolist(), truncations.tolist(), strict=True))
    assert truncated == {0: True, 1: True, 2: False, 3: False}
    envs.close()


@pytest.mark.parametrize("fault", ["stuck", "spin"])
def test_a_stuck_environment_runs_into_the_timeout_that_names_it(fault: str) -> None:
    envs = make("ray", fault, timeout=2.0)
    pids = envs.pids
    envs.reset(seed=0)
    envs.step(GO)
    with pytest.raises(EnvTimeout, match=r"environment 2 \(worker 1, a Ray actor\) has not returned within 2 s"):
        envs.step(FAULT)
    assert gone(pids)


def test_what_cannot_be_sent_is_named() -> None:
    lock = __import__("threading").Lock()

    def broken() -> Any:
        with lock:
            return None

    import garrison.vector

    with pytest.raises(UserError, match=r"environment 1, .*broken.* cannot be sent"):
        garrison.vector.make([np.zeros, broken], backend="ray", workers=1)
