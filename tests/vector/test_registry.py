"""The table of backends: one entry makes a backend known everywhere."""

import os
import signal
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

import garrison.vector
from garrison.errors import UserError
from garrison.vector.backends.serial import SerialEnvs
from garrison.vector.registry import BACKENDS, Backend, register
from tests.helpers.faulty_envs import Faulty


class EchoEnvs(SerialEnvs):
    """A backend that somebody else might write."""

    backend = "echo"


@pytest.fixture
def echo() -> Iterator[None]:
    register(Backend("echo", f"{__name__}:EchoEnvs", untimed_hint="count yourself", is_parallel=False))
    yield
    del BACKENDS["echo"]


def test_one_entry_makes_a_backend_known(echo: None) -> None:
    envs = garrison.vector.make(Faulty, 2, "echo")
    assert isinstance(envs, EchoEnvs)
    envs.close()
    with pytest.raises(UserError, match="did you mean 'echo'"):
        garrison.vector.make(Faulty, 2, "ecco")
    with pytest.raises(UserError, match="backend 'echo' does not account for its time; count yourself"):
        garrison.vector.make(Faulty, 2, "echo", timing=True)


@pytest.mark.parametrize("name", [name for name in BACKENDS if name != "ray"])
def test_an_entry_tells_the_truth(name: str) -> None:
    backend = BACKENDS[name]
    kind = backend.load()
    assert kind.backend == name
    assert issubclass(backend.load(timing=True), kind)
    assert hasattr(kind, "recv") == backend.is_ready_first
    assert hasattr(kind, "pids") == backend.has_processes


def test_faults_name_the_worker_in_fields() -> None:
    envs: Any = garrison.vector.make([partial(Faulty)] * 4, backend="shared", workers=2)
    envs.reset(seed=0)
    os.kill(envs.pids[1], signal.SIGKILL)
    with pytest.raises(garrison.vector.WorkerDied) as caught:
        [envs.step([0] * 4) for _ in range(100)]
    assert caught.value.worker == 1
    assert caught.value.summary.endswith("environments 2-3) was killed by SIGKILL.")
    assert caught.value.hint.startswith("The vector environment is closed; on_worker_death='restart'")
