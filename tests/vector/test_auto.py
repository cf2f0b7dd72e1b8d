import logging
import time
from typing import Any

import numpy as np
import pytest

import garrison.vector
from garrison.vector import auto
from garrison.vector.auto import choose, watch
from garrison.vector.base import Setup
from garrison.vector.timing.cost_model import Load
from tests.helpers.known_costs import uneven_load
from tests.helpers.vector_samples import Sampler


def test_cheap_steps_stay_in_one_process() -> None:
    for cost in (0.0, 1e-7, 1e-6):
        assert choose(Load(cost), 20, cores=2).backend == "serial"
    assert choose(Load(1e-3), 1, cores=64).backend == "serial"
    assert choose(Load(1e-3), 64, cores=1).backend == "serial"


def test_many_cheap_steps_are_shared_with_the_caller() -> None:
    """With a worker beside the caller, 200 environments that do nothing are half as fast again, and 20 are slower."""
    nothing = Load(0.27e-6)
    assert choose(nothing, 20, cores=2).backend == "serial"
    assert choose(nothing, 200, cores=2).backend == "joint"


def test_expensive_steps_get_a_worker_per_core() -> None:
    choice = choose(Load(1e-3), 64, cores=8)
    assert (choice.backend, choice.workers) == ("shared", 8)
    assert "a step takes 1 ms" in choice.why
    assert choose(Load(1e-3), 3, cores=8).workers == 3


@pytest.mark.parametrize("cores", [2, 8, 64])
def test_the_choice_has_one_threshold(cores: int) -> None:
    """Dearer steps and more environments never lead back from processes to serial."""
    for num_envs in (2, 20, 200):
        chosen = [choose(Load(1e-7 * 2**k), num_envs, cores).backend for k in range(20)]
        places = [["serial", "joint", "shared"].index(backend) for backend in chosen]
        assert places == sorted(places)


def test_who_wants_dead_workers_replaced_does_not_step_what_may_die(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "clock", lambda: Brief.now)
    assert choose(Load(20e-6), 100, cores=2).backend == "joint"
    assert choose(Load(20e-6), 100, cores=2, may_die=True).backend == "shared"
    envs: Any = garrison.vector.make(Brief, 64, workers=2, on_worker_death="restart")
    assert envs.backend == "shared"
    envs.close()
    envs = garrison.vector.make(Brief, 64, workers=2)
    assert envs.backend == "joint"
    envs.close()


@pytest.mark.parametrize(
    ("step", "spread", "wanted"),
    [(1e-3, 0.0, "async"), (1e-3, 1.0, "async"), (300e-6, 0.0, "joint"), (300e-6, 1.0, "async")],
)
def test_long_or_uneven_steps_go_ready_first_if_the_caller_does(step: float, spread: float, wanted: str) -> None:
    load = uneven_load(step, spread)
    choice = choose(load, 16, cores=2, ready_first=True)
    assert (choice.backend, choice.workers) == (wanted, 2)
    assert ("wait for the slowest" in choice.why) == (wanted == "async")
    assert choose(load, 16, cores=2).backend != "async"


def test_uneven_steps_that_are_cheap_stay_where_they_are() -> None:
    """The messages of `async` would cost more than the waiting; and one worker has nobody to wait for."""
    assert choose(uneven_load(1e-7, 1.0), 16, cores=2, ready_first=True).backend == "serial"
    assert choose(uneven_load(20e-6, 1.0), 16, cores=2, ready_first=True).backend == "joint"
    assert choose(uneven_load(1e-3, 1.0), 16, cores=1, ready_first=True).backend == "serial"
    assert choose(uneven_load(1e-3, 1.0), 1, cores=4, ready_first=True).backend == "serial"


class Ticking(Sampler):
    """Moves the clock that `watch` reads instead of taking time: 1 ms a step, every fourth 5 ms, a reset 2 ms."""

    now = 0

    def step(self, action: Any) -> Any:
        result = super().step(action)
        Ticking.now += 5_000_000 if self.t % 4 == 0 else 1_000_000
        return result

    def reset(self, **kwargs: Any) -> Any:
        Ticking.now += 2_000_000
        return super().reset(**kwargs)


def test_the_look_tells_how_uneven_steps_are_to_whom_it_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "clock", lambda: Ticking.now)
    setup = Setup((lambda: Ticking(length=4),))
    plain, ready = watch(setup), watch(setup, ready_first=True)
    assert plain.steps is None
    assert ready.steps is not None
    assert ready.step == pytest.approx(2.5e-3, rel=0.05)  # 1 + 1 + 1 + 5 and a reset, over 4 steps
    assert ready.steps.quantile(0.4) == pytest.approx(1e-3, rel=0.15)
    assert ready.steps.longest == pytest.approx(5e-3, rel=0.15)


class Brief(Sampler):
    """Takes 50 us by the clock that `watch` reads."""

    now = 0

    def step(self, action: Any) -> Any:
        Brief.now += 50_000
        return super().step(action)


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
