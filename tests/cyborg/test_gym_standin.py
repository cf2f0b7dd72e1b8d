"""Scripts for the old gym find what they need of it where it is not installed."""

import sys
from collections.abc import Iterator
from types import ModuleType

import gymnasium
import numpy as np
import pytest

from garrison.cyborg.staging import SOURCE


@pytest.fixture
def gym(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "gym"}
    for name in before:
        del sys.modules[name]
    monkeypatch.syspath_prepend(str(SOURCE / "gym_standin"))
    import gym

    yield gym
    for name in [name for name in sys.modules if name.partition(".")[0] == "gym"]:
        del sys.modules[name]
    sys.modules.update(before)


def test_spaces_are_gymnasiums_and_environments_are_not(gym: ModuleType) -> None:
    from gym.spaces import Box, Discrete  # type: ignore[import-not-found, unused-ignore]

    assert Box is gymnasium.spaces.Box
    assert Discrete is gym.spaces.Discrete is gymnasium.spaces.Discrete
    assert not issubclass(gym.Env, gymnasium.Env)
    gym.logger.set_level(gym.logger.ERROR)
    assert gym.logger.MIN_LEVEL == 40


def test_environments_and_wrappers_have_the_old_interface(gym: ModuleType) -> None:
    class Count(gym.Env):  # type: ignore[name-defined, misc]
        action_space = gym.spaces.Discrete(2)
        observation_space = gym.spaces.Box(0, 9, (1,))

        def reset(self) -> int:
            self.t = 0
            return 0

        def step(self, action: int) -> tuple[int, float, bool, dict[str, int]]:
            self.t += action
            return self.t, 1.0, self.t > 1, {}

    class Doubled(gym.ObservationWrapper):  # type: ignore[name-defined, misc]
        def observation(self, observation: int) -> int:
            return 2 * observation

    with Count() as env:
        wrapped = Doubled(env)
        assert wrapped.reset() == 0
        assert wrapped.step(1) == (2, 1.0, False, {})
        assert wrapped.t == 1
        assert wrapped.action_space is Count.action_space
        assert wrapped.unwrapped is env
        assert env.seed(3)[0] == 3
        first = env.np_random.random()
        env.seed(3)
        assert first == env.np_random.random() != np.random.default_rng(4).random()


def test_what_it_lacks_is_said(gym: ModuleType) -> None:
    with pytest.raises(gym.error.Error, match="makes no environments: CartPole-v1"):
        gym.make("CartPole-v1")
    with pytest.raises(AttributeError, match="stand-in for gym has no 'vector'"):
        _ = gym.vector
