"""The options of `make`: their types, and the checks of single ones."""

import multiprocessing
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import gymnasium
from gymnasium.vector import AutoresetMode

from garrison.errors import UserError, choose
from garrison.system import cores
from garrison.vector.base import EnvMaker
from garrison.vector.registry import BACKENDS

Env = str | Callable[..., gymnasium.Env[Any, Any]] | Sequence[Callable[..., gymnasium.Env[Any, Any]]]
Autoreset = AutoresetMode | Literal["next_step", "same_step", "disabled", "NextStep", "SameStep", "Disabled"]
StartMethod = Literal["fork", "forkserver", "spawn"]
OnWorkerDeath = Literal["raise", "restart"]
Timing = bool | Literal["workers"]


def makers_of(env: Env, num_envs: int | None, env_kwargs: dict[str, Any]) -> tuple[EnvMaker, ...]:
    """Return one function per environment that makes it."""
    if isinstance(env, str):
        # Only the first is watched by Gymnasium's checker: it costs time in every step, and they are all alike.
        first = partial(gymnasium.make, env, **env_kwargs)
        others = partial(gymnasium.make, env, disable_env_checker=True, **env_kwargs)
        return (first, *[others] * (count(num_envs) - 1))
    if callable(env):
        return (partial(env, **env_kwargs) if env_kwargs else env,) * count(num_envs)
    makers: list[Any] = list(env) if isinstance(env, Sequence) else []
    if not makers or not all(map(callable, makers)):
        raise UserError(f"env must be a Gymnasium id, a callable or a list of callables; got {env!r}")
    if num_envs not in (None, len(makers)):
        raise UserError(f"num_envs is {num_envs}, but there are {len(makers)} callables; leave num_envs out")
    return tuple(partial(maker, **env_kwargs) if env_kwargs else maker for maker in makers)


def count(num_envs: int | None) -> int:
    """Return the number of environments, if it is one."""
    if num_envs is None or num_envs < 1:
        raise UserError(f"num_envs must be at least 1; got {num_envs}")
    return int(num_envs)


def worker_count(workers: int | None, num_envs: int) -> int:
    """Return the number of workers: that of the cores by default, and never more than environments."""
    if workers is not None and workers < 1:
        raise UserError(f"workers must be at least 1; got {workers}")
    return min(workers or cores(), num_envs)


def recv_size(batch_size: int | None, num_envs: int, backend: str) -> int:
    """Return how many environments `recv` returns, of backends that have it."""
    if batch_size is None:
        return max(1, num_envs // 2)
    if backend not in BACKENDS or not BACKENDS[backend].is_ready_first:
        ready_first = " or ".join(repr(name) for name, each in BACKENDS.items() if each.is_ready_first)
        raise UserError(f"batch_size is for backend={ready_first}, whose recv() returns that many; got {backend!r}")
    if not 1 <= batch_size <= num_envs:
        raise UserError(f"batch_size must be between 1 and num_envs={num_envs}; got {batch_size}")
    return batch_size


def start_method_of(method: str | None) -> str:
    """Return how processes start: as Python says by default."""
    if method is None:
        return multiprocessing.get_start_method()
    return choose("start_method", method, multiprocessing.get_all_start_methods())
