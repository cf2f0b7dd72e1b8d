"""The classes that the old gym's environments and wrappers derive from."""

from typing import Any

from gym.utils import seeding


class Env:
    """An environment: `reset` returns an observation; `step` an observation, a reward, whether it is over, a dict."""

    metadata: dict[str, Any] = {"render.modes": []}  # noqa: RUF012, scripts replace it, as with the old gym
    reward_range = (-float("inf"), float("inf"))
    spec: Any = None
    action_space: Any
    observation_space: Any
    _np_random: Any = None

    @property
    def np_random(self) -> Any:
        """Return the environment's own generator."""
        if self._np_random is None:
            self._np_random, _ = seeding.np_random()
        return self._np_random

    @np_random.setter
    def np_random(self, value: Any) -> None:
        self._np_random = value

    def step(self, action: Any) -> Any:
        """Play a step."""
        raise NotImplementedError

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        """Begin an episode; a subclass may call this to seed its own generator."""
        if seed is not None:
            self._np_random, _ = seeding.np_random(seed)

    def render(self, mode: str = "human") -> Any:
        """Show the environment."""
        raise NotImplementedError

    def close(self) -> None:
        """Release what the environment holds."""

    def seed(self, seed: int | None = None) -> list[Any]:
        """Seed the environment's own generator."""
        self._np_random, used = seeding.np_random(seed)
        return [used]

    @property
    def unwrapped(self) -> "Env":
        """Return the innermost environment."""
        return self

    def __enter__(self) -> "Env":
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()


class Wrapper(Env):
    """An environment around another; what it does not define is the other's."""

    def __init__(self, env: Env) -> None:
        self.env = env

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"private attribute {name!r} is not looked up in the wrapped environment", name=name)
        return getattr(self.env, name)

    def __getattribute__(self, name: str) -> Any:
        if name in ("action_space", "observation_space", "reward_range", "metadata", "spec"):
            own = object.__getattribute__(self, "__dict__")
            return own[name] if name in own else getattr(own["env"], name)
        return object.__getattribute__(self, name)

    def step(self, action: Any) -> Any:
        """Play a step of the wrapped environment."""
        return self.env.step(action)

    def reset(self, **kwargs: Any) -> Any:
        """Begin an episode of the wrapped environment."""
        return self.env.reset(**kwargs)

    def render(self, mode: str = "human", **kwargs: Any) -> Any:
        """Show the wrapped environment."""
        return self.env.render(mode, **kwargs)

    def close(self) -> None:
        """Close the wrapped environment."""
        self.env.close()

    def seed(self, seed: int | None = None) -> list[Any]:
        """Seed the wrapped environment."""
        return self.env.seed(seed)

    @property
    def unwrapped(self) -> Env:
        """Return the innermost environment."""
        return self.env.unwrapped


class ObservationWrapper(Wrapper):
    """Changes observations by `observation`."""

    def reset(self, **kwargs: Any) -> Any:
        """Begin an episode; return its observation, changed."""
        return self.observation(self.env.reset(**kwargs))

    def step(self, action: Any) -> Any:
        """Play a step; its observation is changed."""
        observation, reward, done, info = self.env.step(action)
        return self.observation(observation), reward, done, info

    def observation(self, observation: Any) -> Any:
        """Return an observation, changed."""
        raise NotImplementedError


class RewardWrapper(Wrapper):
    """Changes rewards by `reward`."""

    def step(self, action: Any) -> Any:
        """Play a step; its reward is changed."""
        observation, reward, done, info = self.env.step(action)
        return observation, self.reward(reward), done, info

    def reward(self, reward: float) -> float:
        """Return a reward, changed."""
        raise NotImplementedError


class ActionWrapper(Wrapper):
    """Changes actions by `action`."""

    def step(self, action: Any) -> Any:
        """Play a step with the action, changed."""
        return self.env.step(self.action(action))

    def action(self, action: Any) -> Any:
        """Return an action, changed."""
        raise NotImplementedError
