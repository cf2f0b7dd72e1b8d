"""What all backends share: the options, the checks at the border, and the Gymnasium interface over the buffers."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from garrison.contract.misuse import Closed, NotReset, Unlike, WrongType
from garrison.contract.resets import reset_mask, spread_seed
from garrison.errors import UserError
from garrison.vector import rows
from garrison.vector.buffers import BufferPlan, Buffers
from garrison.vector.extras import Cadences, Shapes, shapes
from garrison.vector.group import Callee, Entries, Options, Seeds
from garrison.vector.timing.parts import Times

EnvMaker = Callable[[], gymnasium.Env[Any, Any]]
Flags = NDArray[np.bool_]
Step = tuple[Any, NDArray[np.float64], Flags, Flags, dict[str, Any]]


@dataclass(frozen=True)
class Setup:
    """The options of `make`, checked; every backend is built from one."""

    makers: tuple[EnvMaker, ...]
    """One function per environment that makes it."""
    autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP
    copy: bool = True
    extras: Cadences = field(default_factory=dict)
    workers: int = 1
    batch_size: int = 1
    start_method: str = "fork"
    timeout: float | None = 60.0
    restart: bool = False
    timing: bool = False

    @property
    def num_envs(self) -> int:
        """How many environments there are."""
        return len(self.makers)

    def groups(self) -> list[range]:
        """Return the environments of each worker: consecutive runs, as equal as can be."""
        bounds = [w * self.num_envs // self.workers for w in range(self.workers + 1)]
        return [range(a, b) for a, b in pairwise(bounds)]


@dataclass(frozen=True)
class EnvInfo:
    """What an environment says about itself when it is made."""

    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]
    metadata: dict[str, Any]
    render_mode: str | None
    extras: Shapes
    spec: Any = None

    @classmethod
    def of(cls, env: gymnasium.Env[Any, Any], names: Sequence[str]) -> "EnvInfo":
        """Ask `env`, including the shapes of the extras in `names`."""
        published = shapes(env, names)
        return cls(env.observation_space, env.action_space, env.metadata, env.render_mode, published, env.spec)

    def check(self, other: "EnvInfo", index: int) -> None:
        """Raise unless `other`, that of environment `index`, has the same spaces and extras."""
        for what in ("observation_space", "action_space", "extras"):
            mine, its = getattr(self, what), getattr(other, what)
            if mine != its:
                claim = f"environment {index} has the {what.replace('_', ' ')} {its}, environment 0 has {mine}"
                raise Unlike(f"all environments must be alike, but {claim}")


def check_distinct(envs: Sequence[gymnasium.Env[Any, Any]], first: int = 0) -> None:
    """Raise if two of these environments, numbered from `first`, are one and the same: steps of one would be both's."""
    seen: dict[int, int] = {}
    for i, env in enumerate(envs, start=first):
        other = seen.setdefault(id(env.unwrapped), i)
        if other != i:
            raise UserError(
                f"the callables of environments {other} and {i} returned the same environment",
                hint="Each callable must make a new one: lambda: MyEnv(), not lambda: env.",
            )


class BatchedEnvs(VectorEnv[Any, Any, Any]):
    """A vector environment over the buffers; the base of every backend but `native` and `jax`.

    `reset`, `step` and `recv` return fresh arrays. With `copy=False`, those of `reset` and `step` belong to the vector
    environment and **the next call overwrites them**. `extras` always are the buffers themselves.
    """

    backend: str
    """The name of the backend, as `make` takes it."""
    choice: str = ""
    """With `backend="auto"`: what was chosen, and why."""
    extras: dict[str, NDArray[Any]]
    """The extras asked for: name -> array of shape (num_envs, ...)."""

    def __init__(self, setup: Setup) -> None:
        self.num_envs = setup.num_envs
        self.workers = setup.workers
        self._setup = setup
        self.autoreset_mode = self._mode = setup.autoreset_mode
        self._everyone = slice(0, self.num_envs)
        self._reset_done = False
        self._why_closed = ""

    def _describe(self, info: EnvInfo, buffers: Buffers) -> None:
        """Take over spaces and arrays, once the first environment is known."""
        self.single_observation_space = info.observation_space
        self.single_action_space = info.action_space
        self.observation_space = batch_space(info.observation_space, self.num_envs)
        self.action_space = batch_space(info.action_space, self.num_envs)
        self.metadata = {**info.metadata, "autoreset_mode": self._mode}
        self.render_mode = info.render_mode
        self.spec = info.spec
        self._buffers = buffers
        self.extras = buffers.extras
        self._ended = np.zeros(self.num_envs, np.bool_)
        self._shows_objects = bool(rows.object_spaces(info.observation_space))

    def _plan(self, info: EnvInfo) -> BufferPlan:
        spaces = info.observation_space, info.action_space
        return BufferPlan(self.num_envs, *spaces, info.extras, self.workers, self._setup.timing)

    @abstractmethod
    def _reset(self, chosen: NDArray[np.intp], seeds: Seeds, options: Options) -> Entries:
        """Reset the chosen environments into the buffers, each with its seed and options."""

    @abstractmethod
    def _step(self) -> Entries:
        """Step all environments with the actions in the buffers into the buffers."""

    @abstractmethod
    def _call(self, chosen: Sequence[int], what: Callee, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Return (or call) the attribute `what` of each chosen environment, or call a function with it."""

    @abstractmethod
    def _assign(self, chosen: Sequence[int], name: str, values: Sequence[Any]) -> None:
        """Set attribute `name` of each chosen environment."""

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | Sequence[dict[str, Any] | None] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Reset all environments, or those in `options["reset_mask"]`.

        An integer `seed` s seeds environment i with s + i; a sequence has one seed, or None, per environment. Options
        are for all environments; a list has those of each.
        """
        self._must_be_open()
        seeds = spread_seed(seed, self.num_envs)
        chosen, each = self._chosen(options)
        entries = self._reset(chosen, [seeds[i] for i in chosen], each)
        self._ended[chosen] = False
        self._reset_done = True
        return self._own(self._buffers.observations), merge(entries, self.num_envs)

    def step(self, actions: Any) -> Step:
        """Step every environment: observations, rewards, terminations, truncations, infos."""
        self._must_be_ready()
        buffers = self._buffers
        if self._mode is AutoresetMode.DISABLED:
            self._must_not_have_ended(np.arange(self.num_envs))
        rows.assign(buffers.actions, self._everyone, actions)
        entries = self._step()
        if self._mode is AutoresetMode.DISABLED:
            np.logical_or(buffers.terminations, buffers.truncations, out=self._ended)
        results = (buffers.observations, buffers.rewards, buffers.terminations, buffers.truncations)
        if self._setup.copy:
            results = rows.duplicate(results)
        if self._shows_objects:
            results = (rows.shown(results[0]), *results[1:])
        return *results, merge(entries, self.num_envs) if entries else {}

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of every environment (or read an attribute) and return the results in order."""
        return tuple(self.call_some(range(self.num_envs), name, *args, **kwargs))

    def call_some(self, chosen: Sequence[int], name: str, *args: Any, **kwargs: Any) -> list[Any]:
        """Do what `call` does for some environments only."""
        return self._call_each(chosen, name, args, kwargs)

    def apply_some(self, chosen: Sequence[int], function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Any]:
        """Call `function(env, *args, **kwargs)` with some environments, where they live."""
        return self._call_each(chosen, function, args, kwargs)

    def _call_each(
        self, chosen: Sequence[int], what: Callee, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> list[Any]:
        self._must_be_open()
        for i in chosen:
            if not 0 <= i < self.num_envs:
                raise UserError(f"there is no environment {i}; there are {self.num_envs}, counted from 0")
        return self._call(chosen, what, args, kwargs)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of every environment."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of every environment: from a list or tuple, one each; any other value goes to all."""
        if not isinstance(values, list | tuple):
            values = [values] * self.num_envs
        self.set_some(range(self.num_envs), name, values)

    def set_some(self, chosen: Sequence[int], name: str, values: Sequence[Any]) -> None:
        """Set an attribute of some environments, each to its value."""
        self._must_be_open()
        if len(values) != len(chosen):
            raise UserError(f"set_attr needs one value per environment, {len(chosen)}; got {len(values)}")
        self._assign(chosen, name, values)

    def render(self, index: int | None = None) -> Any:
        """Return the frame of environment `index`, or a tuple of all frames."""
        return self.call("render") if index is None else self.call_some([index], "render")[0]

    @property
    def times(self) -> Times:
        """Where the time of all calls went; there is none unless it was made with `timing`."""
        raise AttributeError("this vector environment does not account for its time: make it with timing=True")

    @property
    def np_random(self) -> Any:
        """The generator of each environment; from other processes, copies of them."""
        return self.get_attr("np_random")

    @np_random.setter
    def np_random(self, value: Any) -> None:
        raise UserError(
            "each environment has a generator of its own: use reset(seed=...), or set_attr('np_random', [...])"
        )

    @property
    def np_random_seed(self) -> Any:
        """The seed of each environment's generator."""
        return self.get_attr("np_random_seed")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise WrongType(
            f"a vector environment of the backend {self.backend!r} cannot be pickled or copied",
            hint="Make another one with garrison.vector.make; only 'native' and 'jax' can be copied.",
        )

    def _own(self, batch: rows.Arrays) -> rows.Arrays:
        batch = rows.duplicate(batch) if self._setup.copy else batch
        return rows.shown(batch) if self._shows_objects else batch

    def _chosen(
        self, options: dict[str, Any] | Sequence[dict[str, Any] | None] | None
    ) -> tuple[NDArray[np.intp], Options]:
        """Return which environments a reset concerns, and the options of each of these."""
        if options is not None and not isinstance(options, dict):
            if len(options) != self.num_envs:
                raise UserError(f"a list of options must have one per environment, {self.num_envs}; got {len(options)}")
            return np.arange(self.num_envs), list(options)
        if options is None or "reset_mask" not in options:
            return np.arange(self.num_envs), [options] * self.num_envs
        mask = reset_mask(options, self.num_envs)
        if not self._reset_done and not mask.all():
            raise NotReset("the first reset must be of all environments: call reset() without a mask first")
        chosen = np.flatnonzero(mask)
        return chosen, [{key: value for key, value in options.items() if key != "reset_mask"}] * len(chosen)

    def _must_be_open(self) -> None:
        if self.closed:
            raise Closed(f"this vector environment is closed{self._why_closed}; make a new one")

    def _must_be_ready(self) -> None:
        self._must_be_open()
        if not self._reset_done:
            raise NotReset("call reset() before the first step")

    def _must_not_have_ended(self, chosen: NDArray[np.intp]) -> None:
        if self._ended[chosen].any():
            done = chosen[self._ended[chosen]].tolist()
            how = "call reset(options={'reset_mask': terminations | truncations}) first"
            raise NotReset(f"the episodes of environments {done} have ended and autoreset is disabled; {how}")


class _Merger:
    """Gymnasium's own merging of infos, for any number of rows."""

    _add_info = VectorEnv._add_info

    def __init__(self, num_envs: int) -> None:
        self.num_envs = num_envs


def merge(entries: Entries, num_envs: int) -> dict[str, Any]:
    """Merge (row, info) pairs into one dict of arrays with `_key` masks, as Gymnasium's vector environments do."""
    merger: Any = _Merger(num_envs)
    infos: dict[str, Any] = {}
    for i, info in entries:
        infos = merger._add_info(infos, info, i)
    return infos
