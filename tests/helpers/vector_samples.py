"""Environments and comparisons for the contract tests; importable by workers of any start method."""

from copy import deepcopy
from pathlib import Path
from threading import Lock
from time import sleep
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Word(gymnasium.Space[str]):
    """A space that Gymnasium does not know."""

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        return str(self.np_random.choice(["attack", "defend", "sleep"]))

    def contains(self, x: Any) -> bool:
        return isinstance(x, str)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Word)

    __hash__ = gymnasium.Space.__hash__


BOX = spaces.Box(-10, 10, (3,), np.float32)
SPACES: dict[str, gymnasium.Space[Any]] = {
    "box": BOX,
    "image": spaces.Box(0, 255, (4, 5, 3), np.uint8),
    "scalar box": spaces.Box(-1, 1, (), np.float64),
    "discrete": spaces.Discrete(7, start=2),
    "multi discrete": spaces.MultiDiscrete([3, 4, 5]),
    "multi binary": spaces.MultiBinary(6),
    "dict": spaces.Dict({"a": BOX, "b": spaces.Discrete(4)}),
    "tuple": spaces.Tuple((spaces.Discrete(3), BOX)),
    "nested": spaces.Dict(
        {"x": spaces.Tuple((BOX, spaces.Dict({"y": spaces.MultiBinary(2)}))), "z": spaces.Discrete(2)}
    ),
    "text": spaces.Text(8, charset="abcdefgh"),  # a string: the order of a set differs between processes
    "sequence": spaces.Sequence(BOX),
    "stacked sequence": spaces.Sequence(spaces.Discrete(5), stack=True),
    "graph": spaces.Graph(BOX, spaces.Discrete(3)),
    "one of": spaces.OneOf((spaces.Discrete(3), BOX)),
    "own": Word(),
    "mixed": spaces.Dict(
        {"text": spaces.Text(4, charset="xyz"), "box": BOX, "deep": spaces.Tuple((Word(), spaces.Discrete(3)))}
    ),
}


class Sampler(gymnasium.Env[Any, Any]):
    """Observations sampled from a space; the reward is a checksum of the action; episodes of a given length."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(
        self,
        length: int = 5,
        observations: str = "box",
        actions: str = "discrete",
        talkative: bool = True,
        render_mode: str | None = None,
    ) -> None:
        self.observation_space = deepcopy(SPACES[observations])
        self.action_space = SPACES[actions]
        self.render_mode = render_mode
        self.length = length
        self.talkative = talkative
        self.t = 0
        self.options: dict[str, Any] | None = None
        self.kept: list[Any] = []
        self.hidden = np.zeros(4, np.int16)
        self.extras = {"hidden": self.hidden, "double": lambda: self.hidden[:2] * 2.0}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        self.t = 0
        self.options = options
        self._hide()
        return self.observation_space.sample(), ({"begun": self.length} if self.talkative else {})

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.t += 1
        self.kept.append(action)
        self._hide()
        info: dict[str, Any] = {}
        if self.talkative and self.t == 2:
            info = {"word": "two", "number": 2.5, "array": np.arange(3), "nested": {"t": self.t}}
            info["mixed"] = 1 if self.length % 2 else 1.5  # the first environment's type decides the array's
        if self.t >= self.length:
            info = {"episode": {"r": float(self.t), "l": self.t}}
        terminated = self.t >= self.length and self.length % 2 == 0
        truncated = self.t >= self.length and self.length % 2 == 1
        return self.observation_space.sample(), checksum(action), terminated, truncated, info

    def _hide(self) -> None:
        self.hidden[:] = (self.t, self.length, -self.t, 7)

    def render(self) -> Any:
        return np.full((2, 2, 3), self.t, np.uint8)

    def lock(self) -> Any:
        return Lock()

    def double_length(self, plus: int = 0) -> int:
        return 2 * self.length + plus


class Gated(Sampler):
    """Its step returns when a file appears."""

    def __init__(self, gate: Path | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.gate = gate

    def step(self, action: Any) -> Any:
        while self.gate and not self.gate.exists():
            sleep(0.01)
        return super().step(action)


def checksum(value: Any) -> float:
    if isinstance(value, dict):
        return sum((k + 1) * checksum(part) for k, part in enumerate(value.values()))
    if isinstance(value, tuple):
        return sum((k + 1) * checksum(part) for k, part in enumerate(value))
    if isinstance(value, str):
        return float(sum(map(ord, value)))
    if value is None:
        return 0.0
    array = np.asarray(value, np.float64)
    return float((array * np.arange(1, array.size + 1).reshape(array.shape)).sum())


def assert_same(a: Any, b: Any, path: str = "") -> None:
    """Equal in structure, types and bytes."""
    if isinstance(a, dict):
        assert isinstance(b, dict), path
        assert a.keys() == b.keys(), (path, a.keys(), b.keys())
        for key in a:
            assert_same(a[key], b[key], f"{path}[{key!r}]")
    elif isinstance(a, tuple | list):
        assert type(a) is type(b), (path, type(a), type(b))
        assert len(a) == len(b), path
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_same(x, y, f"{path}[{k}]")
    elif isinstance(a, np.ndarray):
        assert isinstance(b, np.ndarray), (path, type(b))
        assert a.dtype == b.dtype, (path, a.dtype, b.dtype)
        assert a.shape == b.shape, (path, a.shape, b.shape)
        if a.dtype == object:
            for k, (x, y) in enumerate(zip(a.ravel(), b.ravel(), strict=True)):
                assert_same(x, y, f"{path}[{k}]")
        else:
            assert a.tobytes() == b.tobytes(), (path, a, b)
    else:
        assert a == b, (path, a, b)
