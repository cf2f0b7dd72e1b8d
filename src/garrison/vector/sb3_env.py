"""The `VecEnv` behind `garrison.vector.sb3`; importing it needs Stable-Baselines3."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium import Wrapper, spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from garrison.errors import UserError
from garrison.vector import rows
from garrison.vector.backends.serial import SerialEnvs
from garrison.vector.backends.threads import ThreadedEnvs
from garrison.vector.base import BatchedEnvs
from garrison.workers.faults import EnvFailed

Indices = None | int | Iterable[int]


class Sb3Env(VecEnv):
    """A Gymnasium vector environment with SAME_STEP or DISABLED autoreset, as SB3 sees it."""

    def __init__(self, envs: VectorEnv[Any, Any, Any]) -> None:
        self._batch = envs
        if isinstance(envs.unwrapped, SerialEnvs | ThreadedEnvs):  # as in SB3's DummyVecEnv; other processes show none
            self.envs: Sequence[Any] = envs.unwrapped.envs
        self._each = envs.unwrapped if isinstance(envs.unwrapped, BatchedEnvs) else None
        """What reaches single environments; None for a compiled batch, which has none."""
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)
        self._resets_itself = envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
        self._returns = np.zeros(envs.num_envs)
        self._lengths = np.zeros(envs.num_envs, np.int64)
        self._begun = time.time()
        self._actions: Any = None
        self._has_monitor = self.env_is_wrapped(Monitor)

    def reset(self) -> Any:
        """Reset all environments with the seeds and options given before."""
        seeds: Any = self._seeds
        observations, infos = self._batch.reset(seed=seeds, options=self._reset_options_given())
        self.reset_infos = one_by_one(infos, self.num_envs)
        self._returns[:] = 0.0
        self._lengths[:] = 0
        self._reset_seeds()
        self._reset_options()
        return rows.duplicate(observations)

    def _reset_options_given(self) -> Any:
        given = [options or None for options in self._options]
        if self._each is not None:
            return given
        if any(options != given[0] for options in given):
            raise UserError("a compiled batch takes one set of options for all environments; got different ones")
        return given[0]

    def step_async(self, actions: Any) -> None:
        """Note the actions, a batch or one for each environment; the step happens in `step_wait`."""
        is_nested = isinstance(self.action_space, spaces.Dict | spaces.Tuple)
        is_one_each = isinstance(actions, list) or (isinstance(actions, np.ndarray) and actions.dtype.hasobject)
        self._actions = rows.stack(self.action_space, list(actions)) if is_nested and is_one_each else actions

    def step_wait(self) -> Any:
        """Step all environments; those that end come back reset."""
        observations, rewards, terminations, truncations, infos = self._batch.step(self._actions)
        # SB3 keeps the last observations while it steps, so they must not be our buffers.
        observations = rows.duplicate(observations)
        rewards = rewards.astype(np.float32)
        self._returns += rewards
        self._lengths += 1
        dones = terminations | truncations
        told = one_by_one(infos, self.num_envs)
        if dones.any():
            self._finish(observations, dones, truncations & ~terminations, told)
        return observations, rewards, dones, told

    def _finish(
        self, observations: Any, dones: NDArray[np.bool_], cut: NDArray[np.bool_], told: list[dict[str, Any]]
    ) -> None:
        finals = {}
        for i in np.flatnonzero(dones).tolist():
            if self._resets_itself:
                last = told[i].pop("final_info", {})
                finals[i] = told[i].pop("final_obs")
                self.reset_infos[i] = told[i]
                told[i] = last
            else:
                finals[i] = rows.duplicate(rows.part_of(observations, i))  # type: ignore[arg-type]
        if not self._resets_itself:
            fresh, infos = self._batch.reset(options={"reset_mask": dones})
            where = np.flatnonzero(dones)
            rows.assign(observations, where, rows.part_of(fresh, where), "observations")
            begun = one_by_one(infos, self.num_envs)
            for i in finals:
                self.reset_infos[i] = begun[i]
        for i, final in finals.items():
            told[i]["terminal_observation"] = final
            told[i]["TimeLimit.truncated"] = bool(cut[i])
            if not self._has_monitor[i]:  # which has said more
                told[i]["episode"] = {
                    "r": round(float(self._returns[i]), 6),
                    "l": int(self._lengths[i]),
                    "t": round(time.time() - self._begun, 6),
                }
        self._returns[dones] = 0.0
        self._lengths[dones] = 0

    def close(self) -> None:
        """Close the environments."""
        self._batch.close()

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute of the chosen environments."""
        chosen = self._chosen(indices)
        if attr_name == "render_mode":
            return [self._batch.render_mode for _ in chosen]
        if self._each is None:
            return self._rows_of(getattr(self._batch, attr_name), chosen)
        try:
            return self._each.call_some(chosen, "get_wrapper_attr", attr_name)
        except EnvFailed as error:
            if "AttributeError" in str(error):  # SB3 asks for attributes to find out whether they exist
                raise AttributeError(attr_name) from error
            raise

    def has_attr(self, attr_name: str) -> bool:
        """Say whether every environment has an attribute; it is neither read nor called."""
        if self._each is None:
            return hasattr(self._batch, attr_name)
        return all(self._each.call("has_wrapper_attr", attr_name))

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute of the chosen environments."""
        chosen = self._chosen(indices)
        if self._each is not None:
            self._each.set_some(chosen, attr_name, [value] * len(chosen))
        else:
            setattr(self._batch.unwrapped, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> list[Any]:
        """Call a method of the chosen environments; of a native batch, its own method, whose rows are theirs."""
        chosen = self._chosen(indices)
        if self._each is not None:
            return self._each.call_some(chosen, method_name, *args, **kwargs)
        return self._rows_of(getattr(self._batch, method_name)(*args, **kwargs), chosen)

    def env_is_wrapped(self, wrapper_class: type, indices: Indices = None) -> list[bool]:
        """Return which chosen environments are wrapped in a `wrapper_class`; a compiled batch has no wrappers."""
        chosen = self._chosen(indices)
        if self._each is None:
            return [False for _ in chosen]
        return self._each.apply_some(chosen, is_wrapped_in, full_name(wrapper_class))

    def get_images(self) -> Sequence[Any]:
        """Return the rendered frames."""
        return list(self._batch.render() or [])

    def _chosen(self, indices: Indices) -> list[int]:
        return [i + self.num_envs if i < 0 else i for i in self._get_indices(indices)]

    def _rows_of(self, value: Any, chosen: list[int]) -> list[Any]:
        if isinstance(value, np.ndarray | tuple | list) and len(value) == self.num_envs:
            return [value[i] for i in chosen]
        return [value for _ in chosen]


def one_by_one(infos: dict[str, Any], num_envs: int) -> list[dict[str, Any]]:
    """Turn Gymnasium's dict of arrays with masks into one dict per environment."""
    each: list[dict[str, Any]] = [{} for _ in range(num_envs)]
    for key, values in infos.items():
        if key.startswith("_") and key[1:] in infos:  # a mask
            continue
        mask = infos.get(f"_{key}")
        where = range(num_envs) if mask is None else np.flatnonzero(mask).tolist()
        parts = one_by_one(values, num_envs) if isinstance(values, dict) else values
        for i in where:
            each[i][key] = parts[i]
    return each


def full_name(kind: type) -> str:
    """Name a class so that a process without it can tell it from others."""
    return f"{kind.__module__}.{kind.__qualname__}"


def is_wrapped_in(env: Any, name: str) -> bool:
    """Say whether `env` or an environment inside it is of the class `name`; called where the environment lives.

    By name, because sending the class would make every worker import Stable-Baselines3, and torch with it.
    """
    while True:
        if name in map(full_name, type(env).__mro__):
            return True
        if not isinstance(env, Wrapper):
            return False
        env = env.env
