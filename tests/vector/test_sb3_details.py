"""What Stable-Baselines3's own code asks of a `VecEnv`, each beside the answer of its DummyVecEnv."""

import warnings
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest

import garrison.vector
from garrison.errors import UserError
from tests.helpers.vector_samples import Sampler

pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")

from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor

BACKENDS = ["serial", "shared"]


class Talker(Sampler):
    """Tells the same key at the begin and in every step, and one that looks like a mask."""

    resets = 0

    def reset(self, **kwargs: Any) -> Any:
        observation, _ = super().reset(**kwargs)
        self.resets += 1
        return observation, {"level": f"begin {self.resets}", "_hidden": self.length}

    def step(self, action: Any) -> Any:
        *results, _ = super().step(action)
        return *results, {"level": f"step {self.t}", "_hidden": -self.t, "goal": self.t}

    def needs_arguments(self, a: int, b: int) -> int:
        return self.length * a + b


def monitored(length: int) -> Any:
    return Monitor(Talker(length), info_keywords=("goal",))


def both(makers: list[Any], backend: str = "serial") -> tuple[Any, Any]:
    ours = garrison.vector.make(makers, backend=backend, workers=2, autoreset_mode="same_step")
    return garrison.vector.sb3(ours), DummyVecEnv(makers)


@pytest.fixture(params=BACKENDS)
def pair(request: pytest.FixtureRequest) -> Any:
    ours, theirs = both([partial(Talker, n) for n in (2, 3)], request.param)
    yield ours, theirs
    ours.close()


def test_a_infos_of_a_reset_keep_keys_that_the_last_step_had_too(pair: Any) -> None:
    for envs in pair:
        envs.reset()
        for _ in range(2):
            envs.step(np.full(2, 3))
    ours, theirs = pair
    begins = [{"level": "begin 2", "_hidden": 2}, {"level": "begin 1", "_hidden": 3}]  # one episode has ended
    assert ours.reset_infos == theirs.reset_infos == begins


def test_b_each_environment_gets_its_own_options(pair: Any) -> None:
    seen = []
    for envs in pair:
        envs.set_options([{"colour": "red"}, {"colour": "blue"}])
        envs.reset()
        seen.append(envs.get_attr("options"))
        envs.reset()  # options are for one reset
        seen.append(envs.get_attr("options"))
    assert seen[0] == seen[2] == [{"colour": "red"}, {"colour": "blue"}]
    assert [options or None for options in seen[3]] == seen[1] == [None, None]


def test_b_a_compiled_batch_refuses_different_options() -> None:
    envs = garrison.vector.sb3(garrison.vector.make("garrison/CAGE2-v0", 2, "native", autoreset_mode="same_step"))
    envs.set_options([{"a": 1}, {"a": 2}])
    with pytest.raises(UserError, match="one set of options"):
        envs.reset()


def test_c_indices_count_from_the_end(pair: Any) -> None:
    for envs in pair:
        envs.reset()
        assert envs.get_attr("length", indices=-1) == [3]
        assert envs.env_method("double_length", indices=[-2]) == [4]
        envs.set_attr("length", 9, indices=[-1])
        assert envs.get_attr("length") == [2, 9]


def test_d_attributes_are_read_and_methods_are_not_called(pair: Any) -> None:
    for envs in pair:
        assert envs.has_attr("needs_arguments")
        assert envs.has_attr("length")
        assert not envs.has_attr("no_such_thing")
        with pytest.raises(AttributeError):
            envs.get_attr("no_such_thing")
    ours, theirs = both([partial(Talker, 2)])
    for envs in (ours, theirs):
        (method,) = envs.get_attr("needs_arguments")
        assert method(10, 1) == 21


@pytest.mark.parametrize("backend", BACKENDS)
def test_e_keywords_of_monitor_stay_in_the_episode(backend: str) -> None:
    pair = both([partial(monitored, n) for n in (2, 3)], backend)
    episodes = []
    for envs in pair:
        envs.reset()
        envs.step(np.full(2, 3))
        infos = envs.step(np.full(2, 3))[3]
        episodes.append({key: infos[0]["episode"][key] for key in ("r", "l", "goal")})
        assert "episode" not in infos[1]
    assert episodes[0] == episodes[1] == {"r": 6.0, "l": 2, "goal": 2}
    pair[0].close()


def test_f_keys_that_begin_with_an_underscore_arrive(pair: Any) -> None:
    for envs in pair:
        envs.reset()
        infos = envs.step(np.full(2, 3))[3]
        assert [info["_hidden"] for info in infos] == [-1, -1]
        infos = envs.step(np.full(2, 3))[3]
        assert [info["_hidden"] for info in infos] == [-2, -2]


@pytest.mark.parametrize("space", ["dict", "tuple", "nested"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_g_nested_actions_may_come_as_a_list(backend: str, space: str) -> None:
    ours, theirs = both([partial(Sampler, 9, actions=space)] * 2, backend)
    ours.action_space.seed(0)
    ours.reset()
    theirs.reset()
    for _ in range(3):
        actions = [ours.action_space.sample() for _ in range(2)]
        np.testing.assert_array_equal(ours.step(actions)[1], theirs.step(actions)[1])
    ours.close()


@pytest.mark.parametrize("backend", BACKENDS)
def test_h_wrappers_are_found_and_only_those_that_are_there(backend: str) -> None:
    class Own(gymnasium.Wrapper):  # type: ignore[type-arg]
        """A wrapper that a worker cannot import."""

    makers = [lambda: Own(Talker(2)), partial(monitored, 3), lambda: Own(monitored(4))]
    ours, theirs = both(makers, backend)
    for kind in (Own, Monitor, gymnasium.Wrapper, gymnasium.wrappers.TimeLimit):
        assert ours.env_is_wrapped(kind) == theirs.env_is_wrapped(kind)
    assert ours.env_is_wrapped(Monitor, indices=-1) == [True]
    ours.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        VecMonitor(both([partial(Talker, 2)], backend)[0]).close()


def test_environments_of_this_process_can_be_reached_as_in_dummy_vec_env() -> None:
    ours, theirs = both([partial(Talker, 2), partial(Talker, 3)], "serial")
    assert [env.unwrapped.length for env in ours.envs] == [env.unwrapped.length for env in theirs.envs] == [2, 3]
    ours, _ = both([partial(Talker, 2)], "shared")
    assert not hasattr(ours, "envs")  # as in SubprocVecEnv
    ours.close()
