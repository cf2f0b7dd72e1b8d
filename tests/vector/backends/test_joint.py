"""The group that the caller steps itself: its faults, its end, and who is a process beside it."""

import gc
import os
import signal
from typing import Any

import numpy as np
import pytest

import garrison.vector
from garrison.vector import EnvFailed, WorkerDied
from tests.helpers.backend_faults import FAULT, GO, make
from tests.helpers.faulty_envs import Faulty
from tests.helpers.processes import descendants, gone


class Placed(Faulty):
    """Knows its process, and what was done to it."""

    closed = False

    def __init__(self) -> None:
        super().__init__("")
        made.append(self)

    def step(self, action: Any) -> Any:
        if action == 2:
            raise KeyboardInterrupt
        return super().step(action)

    def place(self) -> int:
        return os.getpid()

    def close(self) -> None:
        self.closed = True


made: list[Placed] = []


@pytest.fixture(autouse=True)
def _forget() -> None:
    made.clear()


def test_the_first_group_is_here_and_each_other_in_a_process() -> None:
    envs: Any = garrison.vector.make(Placed, 6, "joint", workers=3)
    assert envs.workers == 3
    pids = envs.pids
    assert descendants() == set(pids)
    assert envs.get_attr("place") == (*[os.getpid()] * 2, *[pids[0]] * 2, *[pids[1]] * 2)
    envs.close()
    assert [env.closed for env in made] == [True, True]  # of the processes' environments nothing is known here
    assert gone(pids)


def test_with_one_worker_there_is_no_process() -> None:
    envs: Any = garrison.vector.make(Placed, 2, "joint", workers=1)
    envs.reset(seed=0)
    assert envs.step(GO[:2])[0][:, 0].tolist() == [1, 1]
    assert envs.pids == []
    envs.close()


def test_a_forgotten_one_ends_its_processes_and_closes_what_is_here() -> None:
    envs: Any = garrison.vector.make(Placed, 4, "joint", workers=2)
    pids = envs.pids
    envs.reset(seed=0)
    del envs
    gc.collect()
    assert gone(pids)
    assert [env.closed for env in made] == [True, True]


def test_an_environment_that_raises_here_is_named_and_the_others_have_stepped() -> None:
    envs = make("joint", "raise", at=0)
    envs.reset(seed=0)
    with pytest.raises(EnvFailed, match="environment 0 raised ValueError in step\\(\\): the dragon woke up"):
        envs.step(FAULT)
    observations, _ = envs.reset(seed=0)
    assert observations[:, 0].tolist() == [0, 0, 0, 0]
    assert envs.step(GO)[0][:, 0].tolist() == [1, 1, 1, 1]
    envs.close()


def test_a_process_that_dies_is_named_or_replaced() -> None:
    envs = make("joint", "")
    envs.reset(seed=0)
    os.kill(envs.pids[0], signal.SIGKILL)
    with pytest.raises(WorkerDied, match=r"worker 1 .*environments 2-3.* was killed by SIGKILL"):
        [envs.step(GO) for _ in range(100)]
    envs = make("joint", "die", on_worker_death="restart")
    envs.reset(seed=0)
    observations, _, _, truncations, infos = envs.step(FAULT)
    assert observations[:, 0].tolist() == [1, 1, 0, 0]
    assert truncations.tolist() == infos["worker_restarted"].tolist() == [False, False, True, True]
    envs.close()


def test_ctrl_c_in_an_environment_here_leaves_no_answer_behind() -> None:
    envs: Any = garrison.vector.make(Placed, 4, "joint", workers=2)
    envs.reset(seed=0)
    with pytest.raises(KeyboardInterrupt):
        envs.step(np.array([0, 2, 0, 0]))
    observations, _ = envs.reset(seed=0)
    assert observations[:, 0].tolist() == [0, 0, 0, 0]
    for k in range(1, 4):
        assert envs.step(GO)[0][:, 0].tolist() == [k] * 4
    envs.close()
