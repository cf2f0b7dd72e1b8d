"""`send` and `recv` of `ray`: what the tests of `async` say, said of Ray actors; and what is Ray's own."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import garrison.vector
from garrison.errors import UserError
from tests.helpers import backend_contract
from tests.helpers.async_contract import *  # noqa: F403 - its tests become tests of this file
from tests.helpers.vector_samples import Gated, Sampler, assert_same

pytestmark = pytest.mark.usefixtures("local_ray")


@pytest.fixture
def backend() -> str:
    return "ray"


def test_the_slowest_does_not_hold_the_rest(tmp_path: Path) -> None:
    gate = tmp_path / "open"
    makers = [partial(Gated, gate if i == 1 else None) for i in range(3)]
    envs: Any = garrison.vector.make(makers, backend="ray", workers=3, batch_size=1)
    envs.reset(seed=0)
    envs.send(np.full(3, 2))
    for _ in range(6):
        ids = envs.recv()[5]
        assert 1 not in ids
        envs.send(np.full(len(ids), 2), ids)
    gate.touch()
    while 1 not in envs.recv()[5]:
        pass
    envs.close()


@pytest.mark.parametrize("workers", [1, 3, 5])
def test_trajectories_do_not_depend_on_workers(workers: int) -> None:
    envs = backend_contract.make("ray", workers=workers)
    assert envs.workers == workers
    assert len(set(envs.pids)) == workers
    assert_same(backend_contract.play(backend_contract.make("serial")), backend_contract.play(envs))
    envs.close()


def test_a_step_is_one_call_per_worker_and_its_bytes_are_counted() -> None:
    envs: Any = garrison.vector.make([partial(Sampler, 9, talkative=False)] * 6, backend="ray", workers=2)
    envs.reset(seed=0)
    before = (envs.traffic.calls, envs.traffic.sent, envs.traffic.received)
    envs.step(np.full(6, 2))
    after = (envs.traffic.calls, envs.traffic.sent, envs.traffic.received)
    calls, sent, received = (b - a for a, b in zip(before, after, strict=True))
    assert calls == 2
    assert sent == 6 * (8 + 4)  # an action and a number each
    assert received == 6 * (3 * 4 + 8 + 1 + 1 + 4)  # observation, reward, two flags, and the number
    envs.close()


def test_large_observations_come_through_the_object_store() -> None:
    envs: Any = garrison.vector.make([partial(Large, 9)] * 4, backend="ray", workers=2)
    reference = garrison.vector.make([partial(Large, 9)] * 4, backend="serial")
    for given, expected in zip(backend_contract.play(envs, 5), backend_contract.play(reference, 5), strict=True):
        assert_same(expected, given)
    envs.close()


class Large(Sampler):
    """Observations that are too large to travel with a reply."""

    def __init__(self, length: int) -> None:
        super().__init__(length, observations="image")
        import gymnasium

        self.observation_space = gymnasium.spaces.Box(0, 255, (200, 200, 3), np.uint8)


def test_what_ray_cannot_account_for_is_told() -> None:
    with pytest.raises(UserError, match=r"envs\.traffic"):
        garrison.vector.make(Sampler, 2, backend="ray", timing=True)
