"""`send` and `recv`: ready environments first, each with the trajectory that it has alone.

A test file that imports these tests has a fixture `backend` that names what they are made for.
"""

from collections import defaultdict
from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

import garrison.vector
from garrison.errors import UserError
from garrison.vector import EnvFailed, rows
from tests.helpers.vector_samples import Sampler, assert_same

LENGTHS = (3, 4, 7, 5, 6)


EVERYONE = slice(None)


def make(backend: str, makers: Any = None, **kwargs: Any) -> Any:
    makers = makers or [partial(Sampler, n) for n in LENGTHS]
    return garrison.vector.make(makers, backend=backend, **{"workers": 2, "batch_size": 2, **kwargs})


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize(("workers", "batch_size"), [(1, 1), (2, 2), (2, 5), (5, 3)])
def test_each_environment_has_the_trajectory_it_has_in_serial(
    backend: str, workers: int, batch_size: int, mode: str
) -> None:
    steps = 15
    serial = garrison.vector.make([partial(Sampler, n) for n in LENGTHS], backend="serial", autoreset_mode=mode)
    actions = np.random.default_rng(0).integers(2, 9, (steps, 5))
    expected = defaultdict(list)
    serial.reset(seed=1)
    for row in actions:
        observations, rewards, terminations, truncations, infos = serial.step(row)
        for i in range(5):
            word = infos["word"][i] if "word" in infos and infos["_word"][i] else None
            expected[i].append((observations[i].copy(), rewards[i], terminations[i], truncations[i], word))

    envs = make(backend, workers=workers, batch_size=batch_size, autoreset_mode=mode)
    envs.reset(seed=1)
    envs.send(actions[0])
    seen: dict[int, list[Any]] = defaultdict(list)
    while any(len(seen[i]) < steps for i in range(5)):
        observations, rewards, terminations, truncations, infos, env_ids = envs.recv()
        assert len(env_ids) <= batch_size
        again = []
        for k, i in enumerate(env_ids.tolist()):
            word = infos["word"][k] if "word" in infos and infos["_word"][k] else None
            seen[i].append((observations[k].copy(), rewards[k], terminations[k], truncations[k], word))
            if len(seen[i]) < steps:
                again.append(i)
        if again:
            envs.send(np.array([actions[len(seen[i])][i] for i in again]), again)
    for i in range(5):
        assert_same(expected[i], seen[i])
    envs.close()


@pytest.mark.parametrize("space", ["text", "sequence", "stacked sequence", "graph", "one of", "own", "mixed"])
def test_values_that_are_no_arrays_travel_with_send_and_recv(backend: str, space: str) -> None:
    makers = [partial(Sampler, n, observations=space, actions=space) for n in LENGTHS]
    serial = garrison.vector.make(makers, backend="serial")
    one = serial.single_action_space
    one.seed(3)
    actions = [[one.sample() for _ in LENGTHS] for _ in range(8)]
    expected = defaultdict(list)
    for i, first in enumerate(rows.split(one, boxed(one, serial.reset(seed=1)[0]), EVERYONE)):
        expected[i].append(first)
    for each in actions:
        observations, rewards, *_ = serial.step(rows.stack(one, each))
        for i, value in enumerate(rows.split(one, boxed(one, observations), EVERYONE)):
            expected[i].append((value, rewards[i]))

    envs = make(backend, makers=makers)
    seen = defaultdict(list)
    for i, first in enumerate(rows.split(one, boxed(one, envs.reset(seed=1)[0]), EVERYONE)):
        seen[i].append(first)
    envs.send(rows.stack(one, actions[0]))
    while len(envs.in_flight):
        observations, rewards, *_, env_ids = envs.recv()
        for i, value, reward in zip(
            env_ids.tolist(), rows.split(one, boxed(one, observations), EVERYONE), rewards, strict=True
        ):
            seen[i].append((value, reward))
            if len(seen[i]) <= len(actions):
                envs.send(rows.stack(one, [actions[len(seen[i]) - 1][i]]), [i])
    for i in range(5):
        assert_same(expected[i], seen[i])
    envs.close()


def boxed(space: Any, batch: Any) -> Any:
    """Turn tuples of values back into the arrays of objects that `rows` works on."""
    if isinstance(space, spaces.Dict):
        return {key: boxed(part, batch[key]) for key, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(boxed(part, batch[k]) for k, part in enumerate(space.spaces))
    if isinstance(batch, np.ndarray):
        return batch
    objects = np.empty(len(batch), object)
    rows.put(objects, EVERYONE, batch)
    return objects


def test_misuse_is_told(backend: str) -> None:
    envs = make(backend)
    with pytest.raises(UserError, match=r"call reset\(\)"):
        envs.send(np.full(5, 2))
    envs.reset(seed=0)
    with pytest.raises(UserError, match="nothing to wait for"):
        envs.recv()
    envs.send(np.full(2, 2), [0, 3])
    with pytest.raises(UserError, match=r"environments \[3\] were sent already"):
        envs.send(np.full(2, 2), [1, 3])
    with pytest.raises(UserError, match="from 0 to 4"):
        envs.send(np.full(1, 2), [5])
    with pytest.raises(UserError, match="different from each other"):
        envs.send(np.full(2, 2), [1, 1])
    with pytest.raises(UserError, match=r"must have shape \(1,\); got \(2,\)"):
        envs.send(np.full(2, 2), [1])
    with pytest.raises(UserError, match=r"recv\(\) the ones in flight first: \[0, 3\]"):
        envs.step(np.full(5, 2))
    assert sorted(envs.recv()[5].tolist()) == [0, 3]
    envs.close()


def test_calls_and_resets_go_between_steps(backend: str) -> None:
    envs = make(backend)
    envs.reset(seed=0)
    envs.send(np.full(5, 2))
    assert envs.get_attr("t") == (1,) * 5  # waits for the steps, and keeps their results
    assert len(envs.recv()[5]) == 2
    envs.reset(seed=0)  # drops what is in flight
    assert len(envs.in_flight) == 0
    assert envs.get_attr("t") == (0,) * 5
    envs.close()


class Touchy(Sampler):
    def step(self, action: Any) -> Any:
        if action == 8:
            raise ValueError("eight")
        return super().step(action)


def test_what_was_sent_after_a_failure_is_forgotten_with_it(backend: str) -> None:
    envs: Any = garrison.vector.make([partial(Touchy, n) for n in LENGTHS], backend=backend, workers=1, batch_size=1)
    envs.reset(seed=0)
    envs.send(np.array([8]), [0])
    envs.send(np.array([2, 2]), [1, 2])
    with pytest.raises(EnvFailed, match="environment 0 raised ValueError"):
        envs.recv()
    observations, _ = envs.reset(seed=0)
    assert len(envs.in_flight) == 0
    again = garrison.vector.make([partial(Touchy, n) for n in LENGTHS], backend="serial")
    assert_same(observations, again.reset(seed=0)[0])
    assert_same(envs.step(np.full(5, 2)), again.step(np.full(5, 2)))
    envs.close()


def test_an_error_leaves_nothing_stale_behind(backend: str) -> None:
    envs: Any = garrison.vector.make([partial(Touchy, n) for n in LENGTHS], backend=backend, workers=2, batch_size=1)
    envs.reset(seed=0)
    envs.send(np.array([8, 2, 2, 2, 2]))
    with pytest.raises(EnvFailed, match="environment 0 raised ValueError"):
        [envs.recv() for _ in range(5)]
    for _ in range(3):
        envs.reset(seed=0)
        envs.send(np.full(5, 2))
        seen = [int(envs.recv()[5][0]) for _ in range(5)]
        assert sorted(seen) == [0, 1, 2, 3, 4]
    envs.close()


def test_recv_takes_another_number_for_once(backend: str) -> None:
    envs = make(backend)
    envs.reset(seed=0)
    envs.send(np.full(5, 2))
    assert [len(envs.recv(1)[5]), len(envs.recv()[5]), len(envs.recv(4)[5])] == [1, 2, 2]
    with pytest.raises(UserError, match="batch_size must be at least 1; got 0"):
        envs.recv(0)
    envs.close()
