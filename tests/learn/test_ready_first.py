"""Collecting from whichever environments are ready: the same rollout as stepping them together."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import garrison.vector
from garrison.errors import UserError
from garrison.learn import A3CConfig, ImpalaConfig, PolicyConfig, PPOConfig, ready_first, train
from garrison.learn.collector import Collector
from garrison.learn.collectors import make_collector
from garrison.learn.nn.network import make_network
from garrison.learn.ready_first import ReadyFirstCollector
from garrison.learn.rollout import Rollout
from garrison.learn.stages import COLLECTING
from garrison.learn.stopwatch import Stopwatch
from garrison.vector import EnvFailed
from garrison.vector.base import Setup
from tests.helpers.faulty_envs import Faulty
from tests.helpers.learning import Log, random_policy
from tests.helpers.uneven_envs import AnyOrder, Sighted, Walk

LENGTHS = (3, 7, 4, 9, 7, 5)
MAKERS = tuple(partial(Walk, length) for length in LENGTHS)
STEPS, ROLLOUTS = 12, 2
NETWORKS: dict[str, dict[str, Any]] = {
    "mlp": {"hidden": (16,)},
    "gru": {"hidden": (16,), "recurrent_size": 8},
    "shared gru": {"hidden": (16,), "recurrent_size": 8, "trunk": "shared"},
}


def any_order(mode: str, batch_size: int = 3, workers: int = 2) -> AnyOrder:
    return AnyOrder(Setup(MAKERS, AutoresetMode[mode], workers=workers, batch_size=batch_size))


def make(backend: str, mode: str, **options: Any) -> Any:
    return garrison.vector.make(MAKERS, backend=backend, autoreset_mode=AutoresetMode[mode], **options)


def collector_of(envs: Any, network: str = "mlp", masked: bool = True) -> Collector:
    policy = random_policy(envs.single_observation_space, envs.single_action_space, **NETWORKS[network])
    collector = make_collector(envs, make_network(policy, envs.num_envs, "auto", 1), seed=5, masked=masked)
    collector.reset(seed=11)
    return collector


def rollout_for(collector: Collector) -> Rollout:
    policy = collector.network.policy
    size = collector.envs.num_envs
    return Rollout.allocate(STEPS, size, policy.observations, policy.actions, collector.masked)


def check_same_rollouts(envs: Any, network: str, masked: bool, serial: Any) -> None:
    """Collect from `envs` and from `serial` ones, twice, and compare everything that is collected and kept."""
    alone, ready = collector_of(serial, network, masked), collector_of(envs, network, masked)
    assert type(alone) is Collector
    assert type(ready) is ReadyFirstCollector
    wanted, found = rollout_for(alone), rollout_for(ready)
    for _ in range(ROLLOUTS):
        assert ready.collect(found, Stopwatch()) == alone.collect(wanted, Stopwatch())
        assert not len(ready.envs.envs.in_flight)
        exact = ("observations", "choices", "masks", "rewards", "terminations", "truncations", "starts", "counted")
        for name in exact:
            np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name), err_msg=name)
        for name in ("log_probs", "values", "last_values"):
            np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), atol=1e-5, err_msg=name)
        cut = wanted.truncations
        assert cut.any()
        assert wanted.terminations.any()
        np.testing.assert_allclose(found.final_values[cut], wanted.final_values[cut], atol=1e-5)
        mine, its = alone.state(), ready.state()
        np.testing.assert_allclose(its.pop("memory"), mine.pop("memory"), atol=1e-5)
        for name in set(mine) - {"envs"}:
            np.testing.assert_array_equal(its[name], mine[name], err_msg=name)
    alone.envs.envs.close()


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP"])
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("masked", [True, False], ids=["masked", "free"])
def test_a_rollout_is_that_of_serial_in_any_order(mode: str, network: str, masked: bool) -> None:
    check_same_rollouts(any_order(mode), network, masked, make("serial", mode))


@pytest.mark.parametrize(
    ("mode", "network", "options"),
    [
        ("SAME_STEP", "mlp", {"batch_size": 1, "workers": 3}),
        ("NEXT_STEP", "gru", {"workers": 2}),
        ("SAME_STEP", "gru", {"batch_size": len(LENGTHS), "workers": 1}),
        ("SAME_STEP", "mlp", {"workers": len(LENGTHS), "timing": True}),
    ],
)
def test_a_rollout_is_that_of_serial_from_workers(mode: str, network: str, options: dict[str, Any]) -> None:
    envs = make("async", mode, **options)
    check_same_rollouts(envs, network, True, make("serial", mode))
    envs.close()


def test_a_dictionary_with_a_picture_is_collected_alike() -> None:
    makers = tuple(partial(Sighted, length) for length in LENGTHS)
    envs = AnyOrder(Setup(makers, AutoresetMode.SAME_STEP, workers=2, batch_size=3))
    alone = garrison.vector.make(makers, backend="serial", autoreset_mode="same_step")
    check_same_rollouts(envs, "gru", True, alone)


@pytest.mark.parametrize(
    ("workers", "batch_size", "most", "cores"),
    [(1, 6, 3, 8), (2, 6, 3, 8), (3, 6, 2, 8), (6, 6, 1, 8), (2, 2, 2, 8), (2, 1, 1, 8), (6, 6, 2, 3), (6, 6, 3, 1)],
)
def test_a_worker_that_has_run_out_has_filled_a_share(
    workers: int, batch_size: int, most: int, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So nobody waits for the slowest where there are cores, and a batch_size that was asked for is a limit."""
    monkeypatch.setattr(ready_first, "cores", lambda: cores)
    envs = any_order("SAME_STEP", batch_size, workers)
    collector = collector_of(envs)
    collector.collect(rollout_for(collector), Stopwatch())
    assert max(envs.received) == most
    assert envs.received[-1] == 1  # at the end, the last ones are not waited for together


def test_time_is_divided_into_the_same_stages_and_the_first_step_is_told_once() -> None:
    collector = collector_of(any_order("SAME_STEP"))
    told: list[int] = []
    collector.on_first_step = lambda: told.append(len(collector.envs.envs.received))
    watch = Stopwatch()
    for _ in range(2):
        collector.collect(rollout_for(collector), watch)
    assert told == [1]
    assert all(watch.totals[stage] > 0 for stage in COLLECTING)


def test_after_an_interrupt_a_new_beginning_is_a_clean_one(monkeypatch: pytest.MonkeyPatch) -> None:
    envs = make("async", "SAME_STEP", workers=2)
    collector = collector_of(envs)
    wanted, found = rollout_for(collector), rollout_for(collector)
    streams = collector.streams.copy()
    collector.collect(wanted, Stopwatch())
    take_in, calls = envs._take_in, []

    def interrupted() -> None:
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        take_in()

    monkeypatch.setattr(envs, "_take_in", interrupted)
    with pytest.raises(KeyboardInterrupt):
        collector.collect(found, Stopwatch())
    assert len(envs.in_flight)
    collector.streams[:] = streams
    collector.reset(seed=11)
    collector.collect(found, Stopwatch())
    np.testing.assert_array_equal(found.choices, wanted.choices)
    np.testing.assert_array_equal(found.observations, wanted.observations)
    envs.close()


def test_an_environment_that_raises_ends_the_training_with_its_number() -> None:
    envs = garrison.vector.make(
        [partial(Faulty, "raise" if i == 2 else "") for i in range(4)], backend="async", autoreset_mode="same_step"
    )
    with pytest.raises(EnvFailed, match="environment 2 raised ValueError in step"):
        train(PPOConfig(steps=500, rollout=8, policy=PolicyConfig(hidden=(8,))), envs)
    envs.reset(seed=0)
    envs.close()


@pytest.mark.parametrize("backend", ["async", "shared"])
@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP"])
def test_the_episodes_of_a_worker_that_is_restarted_are_truncated(backend: str, mode: str, tmp_path: Path) -> None:
    makers = [partial(Walk, 100, grave=tmp_path / "grave" if i == 3 else None) for i in range(4)]
    options = {"workers": 2, "on_worker_death": "restart", "autoreset_mode": AutoresetMode[mode]}
    envs: Any = garrison.vector.make(makers, backend=backend, **options)
    collector = collector_of(envs)
    rollout = rollout_for(collector)
    collector.collect(rollout, Stopwatch())
    lost = rollout.truncations
    assert lost.sum(axis=0).tolist() == [0, 0, 1, 1]
    assert np.isfinite(rollout.final_values[lost]).all()
    if mode == "SAME_STEP":  # nobody knows where they would have ended
        np.testing.assert_array_equal(rollout.final_values[lost], rollout.values[lost])
    assert (rollout.masks.sum(axis=2) == 3).all()
    envs.close()


class Forgetful(Walk):
    def step(self, action: Any) -> Any:
        return *super().step(action)[:4], {}


@pytest.mark.parametrize("backend", ["async", "serial"])
def test_an_environment_without_its_mask_is_told(backend: str) -> None:
    envs = garrison.vector.make([Walk, Forgetful], backend=backend, autoreset_mode="same_step")
    collector = collector_of(envs)
    with pytest.raises(UserError, match=r"'action_mask' entry in (its|their) infos"):
        collector.collect(rollout_for(collector), Stopwatch())
    envs.close()


@pytest.mark.parametrize(
    "config", [ImpalaConfig(actors=0), ImpalaConfig(actors=1), A3CConfig(actors=1)], ids=["inline", "impala", "a3c"]
)
def test_actors_collect_ready_first_too(config: Any) -> None:
    log = Log()
    make_envs = partial(garrison.vector.make, Walk, backend="async", workers=2, autoreset_mode="same_step")
    small = {"steps": 64, "rollout": 8, "policy": PolicyConfig(hidden=(8,)), "action_masks": True}
    train(type(config)(actors=config.actors, **small), make_envs, 4, log)
    assert log.steps[-1] >= 64
