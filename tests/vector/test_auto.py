import logging
import time
from typing import Any

import numpy as np
import pytest

import garrison.vector
from garrison.vector.auto import choose
from tests.helpers.vector_samples import Sampler


def test_cheap_steps_stay_in_one_process() -> None:
    for cost in (0.0, 1e-7, 1e-6):
        assert choose(cost, 20, cores=2).backend == "serial"
    assert choose(1e-3, 1, cores=64).backend == "serial"
    assert choose(1e-3, 64, cores=1).backend == "serial"


def test_expensive_steps_get_a_worker_per_core() -> None:
    choice = choose(1e-3, 64, cores=8)
    assert (choice.backend, choice.workers) == ("shared", 8)
    assert "a step takes 1 ms" in choice.why
    assert choose(1e-3, 3, cores=8).workers == 3


@pytest.mark.parametrize("cores", [2, 8, 64])
def test_the_choice_has_one_threshold(cores: int) -> None:
    """Dearer steps and more environments never lead back from processes to serial."""
    for num_envs in (2, 20, 200):
        chosen = [choose(1e-7 * 2**k, num_envs, cores).backend == "shared" for k in range(20)]
        assert chosen == sorted(chosen)


class Slow(Sampler):
    def step(self, action: Any) -> Any:
        time.sleep(0.005)
        return super().step(action)


class Quick(Sampler):
    def step(self, action: Any) -> Any:
        return np.zeros(3, np.float32), 0.0, False, False, {}


@pytest.mark.alone
def test_it_says_what_it_chose_and_why(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "garrison.vector"):
        envs: Any = garrison.vector.make(Slow, 8, workers=4)
        assert (envs.backend, envs.workers) == ("shared", 4)
        assert envs.choice.startswith("shared with 4 workers: a step takes ")  # 5 ms, or more on a busy machine
        assert f"auto chose {envs.choice}" in caplog.text
        assert "pinned to one thread per worker" in caplog.text
        envs.close()
    quick: Any = garrison.vector.make(Quick, 8, workers=4)
    assert quick.backend == "serial"
    assert "too little gain" in quick.choice
