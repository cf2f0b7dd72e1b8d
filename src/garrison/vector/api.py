"""`make`: the one door to every backend; all options are checked here, once."""

import multiprocessing
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import gymnasium
from gymnasium.vector import AutoresetMode, VectorEnv

from garrison.contract import resets
from garrison.errors import UserError, choose
from garrison.system import cores
from garrison.vector import extras as extras_
from garrison.vector.base import BatchedEnvs, EnvMaker, Setup
from garrison.vector.naming import resolve_env
from garrison.vector.registry import BACKENDS, check_backend
from garrison.workers.faults import EnvFailed, EnvTimeout, WorkerDied

__all__ = ["AutoresetMode", "EnvFailed", "EnvTimeout", "WorkerDied", "make"]

Env = str | Callable[..., gymnasium.Env[Any, Any]] | Sequence[Callable[..., gymnasium.Env[Any, Any]]]


def make(
    env: Env,
    num_envs: int | None = None,
    backend: str = "auto",
    *,
    workers: int | None = None,
    batch_size: int | None = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    extras: Iterable[str] | Mapping[str, str | int] | None = None,
    start_method: Literal["fork", "forkserver", "spawn"] | None = None,
    timeout: float | None = 60.0,
    on_worker_death: Literal["raise", "restart"] = "raise",
    copy: bool = False,
    timing: bool | Literal["workers"] = False,
    **env_kwargs: Any,
) -> VectorEnv[Any, Any, Any]:
    """Make `num_envs` environments behind one `gymnasium.vector.VectorEnv`.

    **The arrays that come back belong to the vector environment and are overwritten by the next step**; say
    `copy=True` for fresh ones each time. The same seed gives the same bytes on every backend and number of workers.

    Args:
        env: A Gymnasium id, `module:Id` (imports what registers it) or `module:callable`; a callable that makes an
            environment; or a list of them, one per environment.
        num_envs: How many; with a list of callables it may be left out.
        backend: native, serial, pipes, shared, async, threads, ray; or auto, which times one environment and chooses
            (`envs.choice` says what and why).
        workers: Processes, threads or Ray actors; the number of cores by default. Means nothing to serial.
        batch_size: How many environments `recv` of async and ray returns at once; half of them by default.
        autoreset_mode: NEXT_STEP (Gymnasium's default), SAME_STEP or DISABLED.
        extras: Names of arrays that the environments publish, or names with cadences: "step", a number of steps, or
            "episode". They arrive in `envs.extras`.
        start_method: How processes start: fork, forkserver or spawn; Python's own default if left out.
        timeout: Seconds that one environment may take for a step or a reset in a worker process; None: no limit.
        on_worker_death: What to do when a worker process is killed: raise, or restart it with its environments reset
            and their episodes reported as truncated.
        copy: Return fresh arrays from every call.
        timing: Account for the time of every call in `envs.times`: environment compute, resets, extras, copying, IPC,
            waiting for the slowest; "workers" does so only where worker processes step the environments.
        env_kwargs: Passed on to the environment.
    """
    check_backend(backend)
    env = resolve_env(env) if isinstance(env, str) else env
    mode = resets.autoreset_mode(autoreset_mode)
    wanted = extras_.cadences(extras)
    if timing not in (True, False, "workers"):
        raise UserError(f"timing must be True, False or 'workers'; got {timing!r}")
    if native_envs := _native(env, num_envs, backend, mode, wanted, copy, workers, timing is True, env_kwargs):
        return native_envs
    makers = makers_of(env, num_envs, env_kwargs)
    if on_worker_death not in ("raise", "restart"):
        raise UserError(f"on_worker_death must be 'raise' or 'restart'; got {on_worker_death!r}")
    if timeout is not None and timeout <= 0:
        raise UserError(f"timeout must be a positive number of seconds, or None for no limit; got {timeout!r}")
    setup = Setup(
        makers,
        mode,
        copy,
        wanted,
        workers=_workers(workers, len(makers)),
        batch_size=_batch_size(batch_size, len(makers), backend),
        start_method=_start_method(start_method),
        timeout=timeout,
        restart=on_worker_death == "restart",
        timing=bool(timing),
    )
    if backend == "auto":
        from garrison.vector import auto

        setup, choice = auto.look(setup, workers or cores())
        envs = build(choice.backend, setup, timing is True)
        auto.announce(envs, choice)
        return envs
    return build(backend, setup, timing is True)


def build(name: str, setup: Setup, time_callers: bool) -> BatchedEnvs:
    """Make the vector environment of a backend; `time_callers`: also where no worker processes are."""
    backend = BACKENDS[name]
    if time_callers and not backend.timed:
        raise UserError(f"backend {name!r} does not account for its time; {backend.untimed_hint}")
    if sys.platform == "win32" and backend.has_processes:
        raise UserError(f"backend {name!r} needs Linux or macOS; use 'serial' or 'threads' here")
    timing = setup.timing and bool(backend.timed) and (backend.has_processes or time_callers)
    return backend.load(timing)(replace(setup, timing=timing))


def _native(
    env: Env,
    num_envs: int | None,
    backend: str,
    mode: AutoresetMode,
    wanted: extras_.Cadences,
    copy: bool,
    workers: int | None,
    timing: bool,
    env_kwargs: dict[str, Any],
) -> VectorEnv[Any, Any, Any] | None:
    # auto takes it only for Garrison's own ids: others' batches need not seed each environment by itself.
    ours = isinstance(env, str) and env.startswith("garrison/")
    if backend != "native" and not (backend == "auto" and ours):
        return None
    from garrison.vector import auto
    from garrison.vector.backends import native

    if not isinstance(env, str) or not native.exists(env):
        if backend == "auto":
            return None
        raise UserError(
            f"backend 'native' needs the id of an environment with a compiled batch; got {env!r}. Use 'auto'."
        )
    if ours and workers is not None:
        env_kwargs = {"threads": workers, **env_kwargs}
    kind = native.NativeEnvs
    if timing:
        from garrison.vector.timing.timed_envs import TimedNativeEnvs as kind
    envs = native.make(env, _count(num_envs), mode, kind, copy=copy, extras=wanted, **env_kwargs)
    envs.workers = env_kwargs.get("threads", 1)
    if backend == "auto":
        auto.announce(envs, auto.Choice("native", 1, f"{env} has a compiled batch"))
    return envs


def makers_of(env: Env, num_envs: int | None, env_kwargs: dict[str, Any]) -> tuple[EnvMaker, ...]:
    """Return one function per environment that makes it."""
    if isinstance(env, str):
        # Only the first is watched by Gymnasium's checker: it costs time in every step, and they are all alike.
        first = partial(gymnasium.make, env, **env_kwargs)
        others = partial(gymnasium.make, env, disable_env_checker=True, **env_kwargs)
        return (first, *[others] * (_count(num_envs) - 1))
    if callable(env):
        return (partial(env, **env_kwargs) if env_kwargs else env,) * _count(num_envs)
    makers: list[Any] = list(env) if isinstance(env, Sequence) else []
    if not makers or not all(map(callable, makers)):
        raise UserError(f"env must be a Gymnasium id, a callable or a list of callables; got {env!r}")
    if num_envs not in (None, len(makers)):
        raise UserError(f"num_envs is {num_envs}, but there are {len(makers)} callables; leave num_envs out")
    return tuple(partial(maker, **env_kwargs) if env_kwargs else maker for maker in makers)


def _count(num_envs: int | None) -> int:
    if num_envs is None or num_envs < 1:
        raise UserError(f"num_envs must be at least 1; got {num_envs}")
    return int(num_envs)


def _workers(workers: int | None, num_envs: int) -> int:
    if workers is not None and workers < 1:
        raise UserError(f"workers must be at least 1; got {workers}")
    return min(workers or cores(), num_envs)


def _batch_size(batch_size: int | None, num_envs: int, backend: str) -> int:
    if batch_size is None:
        return max(1, num_envs // 2)
    if backend not in BACKENDS or not BACKENDS[backend].is_ready_first:
        ready_first = " or ".join(repr(name) for name, each in BACKENDS.items() if each.is_ready_first)
        raise UserError(f"batch_size is for backend={ready_first}, whose recv() returns that many; got {backend!r}")
    if not 1 <= batch_size <= num_envs:
        raise UserError(f"batch_size must be between 1 and num_envs={num_envs}; got {batch_size}")
    return batch_size


def _start_method(method: str | None) -> str:
    if method is None:
        return multiprocessing.get_start_method()
    return choose("start_method", method, multiprocessing.get_all_start_methods())
