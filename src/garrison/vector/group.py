"""A group: consecutive environments that one process (or thread) steps, one after the other.

Every backend steps its environments through this class, so autoreset, infos, extras and the checks exist once. Results
go straight into the rows of the buffers. Infos come back as (environment, info) pairs, only those that are not empty.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from garrison.vector import rows
from garrison.vector.buffers import Buffers
from garrison.vector.extras import Cadences, Publisher
from garrison.workers.faults import EnvFailed

POSITION_BITS = 32
"""A worker's position cell holds the environment's number below these bits and a count of commands above them."""

MISFITS = (ValueError, TypeError, KeyError, IndexError, AttributeError, FloatingPointError)
"""What storing a result raises that does not fit the spaces."""

Entries = list[tuple[int, dict[str, Any]]]
"""Infos of the environments that have something to say, with their numbers."""
Seeds = list[int | None]
"""One for each environment that is reset."""
Options = list[dict[str, Any] | None]
"""One for each environment that is reset."""
Callee = str | Callable[..., Any]
"""The name of an attribute of environments, or a function of one."""
Result = tuple[Any, float, bool, bool, dict[str, Any]]


def _ended(terminations: NDArray[np.bool_], truncations: NDArray[np.bool_]) -> list[int]:
    # Looking for a byte costs a tenth of NumPy's any(), and most steps end no episode.
    if b"\1" not in terminations.tobytes() and b"\1" not in truncations.tobytes():
        return []
    ended: list[int] = np.flatnonzero(terminations | truncations).tolist()
    return ended


class EnvGroup:
    """Environments `first`, `first + 1`, ... with their rows of the buffers; inside, they count from 0."""

    def __init__(
        self,
        envs: Sequence[gymnasium.Env[Any, Any]],
        first: int,
        buffers: Buffers,
        mode: AutoresetMode,
        extras: Cadences,
    ) -> None:
        self.envs = list(envs)
        self._first = first
        self._buffers = buffers
        self._mode = mode
        self._observation_space = envs[0].observation_space
        self._action_space = envs[0].action_space
        self._write = rows.writer(self._observation_space, buffers.observations).write
        self._publisher = Publisher(self.envs, buffers.extras, extras) if extras else None
        self._steps: list[Callable[[Any], Any]] = [env.step for env in self.envs]
        self._resets: list[Callable[..., Any]] = [env.reset for env in self.envs]
        # What the next step of each environment calls: its step(), or after an end under NEXT_STEP, its reset.
        self._calls = list(self._steps)
        self._all = slice(0, len(self.envs))
        # A memoryview: the store costs 25 ns, a tenth of NumPy's.
        self._position: Any = buffers.positions.data
        self._commands = 0
        self._restarted: set[int] = set()  # reset in this step instead of stepped; kept only for extras

    def reset(self, chosen: Sequence[int], seeds: Seeds, options: Options) -> Entries:
        """Reset the chosen environments, each with its seed and options."""
        entries: Entries = []
        base = self._begin()
        for i, seed, its in zip(chosen, seeds, options, strict=True):
            self._position[0] = base + i
            try:
                observation, info = self._resets[i](seed=seed, options=its)
            except Exception as error:
                raise env_failed(self._first + i, "reset()", error) from error
            self._write_one(i, observation)
            self._buffers.rewards[i] = 0.0
            self._buffers.terminations[i] = self._buffers.truncations[i] = False
            self._calls[i] = self._steps[i]
            if self._publisher:
                self._publish_first(i)
            if info:
                entries.append((self._first + i, info))
        return entries

    def step(self) -> Entries:
        """Step all environments with the actions in the buffers."""
        return self._advance(range(len(self.envs)), self._all, self._calls)

    def step_some(self, chosen: list[int]) -> Entries:
        """Step the chosen environments with the actions in the buffers, in the order given."""
        first, last = chosen[0], chosen[-1]
        consecutive = last - first == len(chosen) - 1 and chosen == list(range(first, last + 1))
        where = slice(first, last + 1) if consecutive else chosen
        return self._advance(chosen, where, [self._calls[i] for i in chosen])

    def _advance(self, chosen: Sequence[int], where: rows.Where, calls: Sequence[Callable[[Any], Any]]) -> Entries:
        actions = rows.split(self._action_space, self._buffers.actions, where)
        results: list[Any] = []
        append = results.append
        position = self._position
        base = self._begin()
        # The hot loop. Results are collected and then written array by array: half the cost of writing them row by row.
        try:
            for i, call, action in zip(chosen, calls, actions, strict=True):
                position[0] = base + i
                append(call(action))
        except Exception as error:
            i = chosen[len(results)]
            raise env_failed(self._first + i, "step()", error) from error
        try:
            return self._store(chosen, where, results)
        except MISFITS as error:
            raise self._diagnose(chosen, results, error) from error

    def _store(self, chosen: Sequence[int], where: rows.Where, results: list[Result]) -> Entries:
        observations, rewards, terminations, truncations, infos = zip(*results, strict=True)
        buffers = self._buffers
        buffers.rewards[where] = rewards
        buffers.terminations[where] = terminations
        buffers.truncations[where] = truncations
        ended = _ended(buffers.terminations[where], buffers.truncations[where])
        if self._publisher:
            self._publish(chosen, ended)
        if ended:
            if self._mode is AutoresetMode.NEXT_STEP:
                for k in ended:
                    self._end(chosen[k])
            elif self._mode is AutoresetMode.SAME_STEP:
                observations, infos = self._reset_ended(chosen, ended, list(observations), list(infos))
        self._write(where, observations)
        if any(infos):
            return [(self._first + i, info) for i, info in zip(chosen, infos, strict=True) if info]
        return []

    def _reset_ended(
        self, chosen: Sequence[int], ended: list[int], observations: list[Any], infos: list[dict[str, Any]]
    ) -> tuple[Any, Any]:
        for k in ended:
            i = chosen[k]
            # Copied because environments may reuse the array of their observation.
            final = {"final_obs": rows.duplicate(observations[k]), "final_info": infos[k]}
            try:
                observations[k], info = self._resets[i]()
            except Exception as error:
                raise env_failed(self._first + i, "reset()", error) from error
            infos[k] = final | info
            if self._publisher:
                self._publish_first(i)
        return observations, infos

    def _publish(self, chosen: Sequence[int], ended: list[int]) -> None:
        assert self._publisher is not None
        for i in chosen:
            if i not in self._restarted:
                self._publisher.after_step(i)
        self._restarted.clear()
        for k in ended:
            self._publisher.at_end(chosen[k])

    def _publish_first(self, i: int) -> None:
        assert self._publisher is not None
        self._publisher.after_reset(i)

    def _end(self, i: int) -> None:
        self._calls[i] = partial(self._restart, i)

    def _restart(self, i: int, _action: Any) -> Result:
        self._calls[i] = self._steps[i]
        observation, info = self._resets[i]()
        if self._publisher:
            self._publish_first(i)
            self._restarted.add(i)
        return observation, 0.0, False, False, info

    def truncate(self) -> None:
        """Mark every environment as truncated: what a restarted worker does, for the episodes that it lost."""
        self._buffers.rewards[:] = 0.0
        self._buffers.terminations[:] = False
        self._buffers.truncations[:] = True
        if self._mode is AutoresetMode.NEXT_STEP:
            for i in range(len(self.envs)):
                self._end(i)

    def call(self, chosen: Sequence[int], what: Callee, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Return the attribute `what` of each chosen environment, called with the arguments if it can be called.

        A function is called with the environment and the arguments.
        """
        base = self._begin()
        results = []
        for i in chosen:
            self._position[0] = base + i
            try:
                value = partial(what, self.envs[i]) if callable(what) else self.envs[i].get_wrapper_attr(what)
                results.append(value(*args, **kwargs) if callable(value) else value)
            except Exception as error:
                name = what if isinstance(what, str) else getattr(what, "__name__", "a function")
                raise env_failed(self._first + i, f"{name!r}", error) from error
        return results

    def assign(self, chosen: Sequence[int], name: str, values: Sequence[Any]) -> None:
        """Set attribute `name` of each chosen environment."""
        base = self._begin()
        for i, value in zip(chosen, values, strict=True):
            self._position[0] = base + i
            self.envs[i].set_wrapper_attr(name, value)

    def close(self) -> None:
        """Close every environment."""
        for env in self.envs:
            env.close()

    def _begin(self) -> int:
        self._commands += 1
        return (self._commands << POSITION_BITS) + self._first

    def _write_one(self, i: int, observation: Any) -> None:
        if problem := rows.mismatch(self._observation_space, observation):
            raise EnvFailed(f"environment {self._first + i} in reset(): {problem}", index=self._first + i)
        self._write([i], [observation])

    def _diagnose(self, chosen: Sequence[int], results: list[Any], error: Exception) -> EnvFailed:
        """Find the environment whose result could not be stored."""
        for i, result in zip(chosen, results, strict=True):
            number = self._first + i
            if not isinstance(result, tuple) or len(result) != 5:
                what = f"a tuple of {len(result)}" if isinstance(result, tuple) else type(result).__name__
                wanted = "(observation, reward, terminated, truncated, info)"
                return EnvFailed(f"environment {number} returned {what} from step(); expected {wanted}", index=number)
            if problem := rows.mismatch(self._observation_space, result[0]):
                return EnvFailed(f"environment {number} in step(): {problem}", index=number)
            if np.ndim(result[1]) != 0:
                shape = np.shape(result[1])
                problem = f"the reward has shape {shape}; expected a number"
                return EnvFailed(f"environment {number} in step(): {problem}", index=number)
            if not isinstance(result[4], dict):
                problem = f"info must be a dict; got {result[4]!r}"
                return EnvFailed(f"environment {number} in step(): {problem}", index=number)
        return EnvFailed(f"the results of a step could not be stored: {error}")


def env_failed(index: int, doing: str, error: BaseException) -> EnvFailed:
    """Return the fault that environment `index` raised `error` while `doing`, for use with `raise ... from error`."""
    return EnvFailed(f"environment {index} raised {type(error).__name__} in {doing}: {error}", index=index)
