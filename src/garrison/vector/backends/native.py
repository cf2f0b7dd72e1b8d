"""`native`: environments with a compiled batch of their own, such as CAGE-2, behind the same front as the others."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import load_env_creator
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from numpy.typing import NDArray

from garrison.errors import UserError
from garrison.vector import rows
from garrison.vector.base import Step
from garrison.vector.extras import AT_END, Cadences

if TYPE_CHECKING:
    Wrapper = VectorWrapper[Any, Any, Any, Any, Any]
else:
    Wrapper = VectorWrapper  # not generic before Gymnasium 1.3


class NativeEnvs(Wrapper):
    """Passes everything on to the compiled batch; adds `extras`, `copy` and the names that all backends have."""

    backend = "native"
    choice = ""

    def __init__(self, env: VectorEnv[Any, Any, Any], *, copy: bool, extras: Cadences) -> None:
        super().__init__(env)
        self.workers = 1
        self._step_all: Callable[[Any], Any] = env.step
        self._copy = copy
        self._wanted = extras
        self._kept = {name: np.zeros_like(_truth(env, name)) for name, cadence in extras.items() if cadence != 1}
        self._ages = np.zeros(env.num_envs, np.int64)
        self._ended = np.zeros(env.num_envs, np.bool_)
        self._attach()

    def _attach(self) -> None:
        """Find the arrays of the batch behind the extras: after construction, unpickling or copying."""
        live = {name: _truth(self.env, name) for name in self._wanted}
        # At every step: a view of the state itself, always up to date, at no cost.
        self.extras: dict[str, NDArray[Any]] = {name: self._kept.get(name, live[name]) for name in self._wanted}
        self._sampled = [(self._wanted[name], live[name], kept) for name, kept in self._kept.items()]

    def __getstate__(self) -> dict[str, Any]:
        # Views of the batch's state would become arrays of their own, which nothing updates.
        return {name: value for name, value in self.__dict__.items() if name not in ("extras", "_sampled")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._attach()

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """When episodes that have ended begin again."""
        mode: AutoresetMode = self.metadata["autoreset_mode"]
        return mode

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.env, name)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset all environments, or those in `options["reset_mask"]`."""
        mask = np.ones(self.num_envs, np.bool_) if not options else options.get("reset_mask", True)
        observations, infos = self.env.reset(seed=seed, options=options)
        self._ended[mask] = False
        self._sample(np.broadcast_to(mask, self.num_envs), np.zeros(self.num_envs, np.bool_))
        return rows.duplicate(observations) if self._copy else observations, infos

    def step(self, actions: Any) -> Step:
        """Step every environment: observations, rewards, terminations, truncations, infos."""
        results = self._step_all(actions)
        if self._sampled:
            ended = results[2] | results[3]
            same_step = self.autoreset_mode is AutoresetMode.SAME_STEP
            fresh = ended if same_step else self._ended
            self._sample(fresh, ended)
            self._ended = ended.copy()
        return (*rows.duplicate(results[:4]), results[4]) if self._copy else results

    def _sample(self, fresh: NDArray[np.bool_], ended: NDArray[np.bool_]) -> None:
        """Copy the extras that are due: `fresh` environments have just been reset, `ended` ones finished an episode."""
        self._ages += 1
        self._ages[fresh] = 0
        for cadence, live, kept in self._sampled:
            due = ended if cadence == AT_END else self._ages % cadence == 0
            kept[due] = live[due]


def make(
    env_id: str,
    num_envs: int,
    mode: AutoresetMode,
    kind: type[NativeEnvs] = NativeEnvs,
    *,
    copy: bool,
    extras: Cadences,
    entry_point: str | None = None,
    **kwargs: Any,
) -> NativeEnvs:
    """Make the batch registered for `env_id`, or that of another `entry_point`, wrapped in `kind`."""
    if AT_END in extras.values() and mode is AutoresetMode.SAME_STEP:
        names = [name for name, cadence in extras.items() if cadence == AT_END]
        raise UserError(
            f"extras {names} at the end of an episode are gone under SAME_STEP, where the {kind.backend} batch has "
            "already reset them; use NEXT_STEP, or another backend"
        )
    spec = _spec(env_id)
    if entry_point is not None:
        spec = replace(spec, vector_entry_point=entry_point)
    if "copy" in signature(load_env_creator(spec.vector_entry_point)).parameters:
        kwargs = {"copy": False, **kwargs}  # once is enough, and it is done here
    try:
        env = gymnasium.make_vec(spec, num_envs, vectorization_mode="vector_entry_point", autoreset_mode=mode, **kwargs)
    except TypeError as error:
        if "autoreset_mode" in str(error):
            raise UserError(
                f"the batch of {env_id} has no choice of autoreset_mode, so it cannot be a backend here"
            ) from error
        raise
    return kind(env, copy=copy, extras=extras)


def exists(env_id: str) -> bool:
    """Return whether `env_id`, which may be written module:id, has a compiled batch."""
    return _spec(env_id).vector_entry_point is not None


def _spec(env_id: str) -> Any:
    module, _, name = env_id.rpartition(":")
    if module:
        import_module(module)
    return gymnasium.spec(name)


def _truth(env: VectorEnv[Any, Any, Any], name: str) -> NDArray[Any]:
    truth: Any = getattr(env.unwrapped, "truth", None)
    array = truth.get(name) if isinstance(truth, Mapping) else getattr(truth, name, None)
    if not isinstance(array, np.ndarray):
        raise UserError(f"{env} publishes no extra named {name!r}")
    return array
