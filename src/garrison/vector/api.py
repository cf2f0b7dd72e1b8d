"""`make`: the one door to every backend; all options are checked here, once."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

from gymnasium.vector import AutoresetMode

from garrison.contract import resets
from garrison.errors import UserError
from garrison.registration import BATCHES
from garrison.system import cores
from garrison.vector import extras as extras_
from garrison.vector.base import BatchedEnvs, Setup
from garrison.vector.naming import resolve_env
from garrison.vector.options import (
    Autoreset,
    Env,
    OnWorkerDeath,
    StartMethod,
    Timing,
    count,
    makers_of,
    recv_size,
    start_method_of,
    worker_count,
)
from garrison.vector.registry import BACKENDS, check_backend
from garrison.workers import ctrl_c
from garrison.workers.faults import EnvFailed, EnvTimeout, WorkerDied

if TYPE_CHECKING:
    from garrison.vector.backends.async_ import AsyncEnvs
    from garrison.vector.backends.native import NativeEnvs
    from garrison.vector.backends.serial import SerialEnvs
    from garrison.vector.backends.threads import ThreadedEnvs
    from garrison.vector.backends.worker_envs import WorkerEnvs

__all__ = ["AutoresetMode", "EnvFailed", "EnvTimeout", "WorkerDied", "make"]


# What a backend has beyond the others is known to type checkers: `send` and `recv`, `pids`, `envs`, the batch's names.
@overload
def make(
    env: Env,
    num_envs: int | None = ...,
    backend: Literal["auto"] = ...,
    *,
    workers: int | None = ...,
    batch_size: int | None = ...,
    autoreset_mode: Autoreset = ...,
    extras: Iterable[str] | Mapping[str, str | int] | None = ...,
    start_method: StartMethod | None = ...,
    timeout: float | None = ...,
    on_worker_death: OnWorkerDeath = ...,
    copy: bool = ...,
    timing: Timing = ...,
    ready_first: bool = ...,
    **env_kwargs: Any,
) -> "BatchedEnvs | NativeEnvs": ...
@overload
def make(
    env: Env,
    num_envs: int | None = ...,
    backend: Literal["native", "jax"] = ...,
    *,
    workers: int | None = ...,
    batch_size: int | None = ...,
    autoreset_mode: Autoreset = ...,
    extras: Iterable[str] | Mapping[str, str | int] | None = ...,
    start_method: StartMethod | None = ...,
    timeout: float | None = ...,
    on_worker_death: OnWorkerDeath = ...,
    copy: bool = ...,
    timing: Timing = ...,
    **env_kwargs: Any,
) -> "NativeEnvs": ...
@overload
def make(
    env: Env,
    num_envs: int | None = ...,
    backend: Literal["async", "ray"] = ...,
    *,
    workers: int | None = ...,
    batch_size: int | None = ...,
    autoreset_mode: Autoreset = ...,
    extras: Iterable[str] | Mapping[str, str | int] | None = ...,
    start_method: StartMethod | None = ...,
    timeout: float | None = ...,
    on_worker_death: OnWorkerDeath = ...,
    copy: bool = ...,
    timing: Timing = ...,
    **env_kwargs: Any,
) -> "AsyncEnvs": ...
@overload
def make(
    env: Env,
    num_envs: int | None = ...,
    backend: Literal["pipes", "shared", "joint"] = ...,
    *,
    workers: int | None = ...,
    batch_size: int | None = ...,
    autoreset_mode: Autoreset = ...,
    extras: Iterable[str] | Mapping[str, str | int] | None = ...,
    start_method: StartMethod | None = ...,
    timeout: float | None = ...,
    on_worker_death: OnWorkerDeath = ...,
    copy: bool = ...,
    timing: Timing = ...,
    **env_kwargs: Any,
) -> "WorkerEnvs": ...
@overload
def make(
    env: Env,
    num_envs: int | None = ...,
    backend: Literal["serial", "threads"] = ...,
    *,
    workers: int | None = ...,
    batch_size: int | None = ...,
    autoreset_mode: Autoreset = ...,
    extras: Iterable[str] | Mapping[str, str | int] | None = ...,
    start_method: StartMethod | None = ...,
    timeout: float | None = ...,
    on_worker_death: OnWorkerDeath = ...,
    copy: bool = ...,
    timing: Timing = ...,
    **env_kwargs: Any,
) -> "SerialEnvs | ThreadedEnvs": ...
@overload
def make(
    env: Env,
    num_envs: int | None = ...,
    backend: str = ...,
    *,
    workers: int | None = ...,
    batch_size: int | None = ...,
    autoreset_mode: Autoreset = ...,
    extras: Iterable[str] | Mapping[str, str | int] | None = ...,
    start_method: StartMethod | None = ...,
    timeout: float | None = ...,
    on_worker_death: OnWorkerDeath = ...,
    copy: bool = ...,
    timing: Timing = ...,
    ready_first: bool = ...,
    **env_kwargs: Any,
) -> "BatchedEnvs | NativeEnvs": ...
def make(
    env: Env,
    num_envs: int | None = None,
    backend: str = "auto",
    *,
    workers: int | None = None,
    batch_size: int | None = None,
    autoreset_mode: Autoreset = AutoresetMode.NEXT_STEP,
    extras: Iterable[str] | Mapping[str, str | int] | None = None,
    start_method: StartMethod | None = None,
    timeout: float | None = 60.0,
    on_worker_death: OnWorkerDeath = "raise",
    copy: bool = True,
    timing: Timing = False,
    ready_first: bool = False,
    **env_kwargs: Any,
) -> "BatchedEnvs | NativeEnvs":
    """Make `num_envs` environments behind one `gymnasium.vector.VectorEnv`.

    Every call returns fresh arrays, as Gymnasium's own vector environments do. With `copy=False` they belong to the
    vector environment and **the next step overwrites them**: quicker, for callers that keep nothing. The same seed
    gives the same bytes on every backend and number of workers (on `threads`, if the environments are thread-safe).

    Args:
        env: A Gymnasium id, `module:Id` (imports what registers it) or `module:callable`; a callable that makes an
            environment; or a list of them, one per environment.
        num_envs: How many; with a list of callables it may be left out.
        backend: native, jax, serial, pipes, shared, joint, async, threads, ray; or auto, which times one environment
            and chooses (`envs.choice` says what and why).
        workers: Processes, threads or Ray actors; the number of cores by default. One of joint's is this process. Means
            nothing to serial and jax.
        batch_size: How many environments `recv` of async and ray returns at once; half of them by default.
        autoreset_mode: NEXT_STEP (Gymnasium's default), SAME_STEP or DISABLED.
        extras: Names of arrays that the environments publish, or names with cadences: "step", a number of steps, or
            "episode". They arrive in `envs.extras`.
        start_method: How processes start: fork, forkserver or spawn; Python's own default if left out.
        timeout: Seconds that one environment may take for a step or a reset in a worker process; None: no limit.
        on_worker_death: What to do when a worker process is killed: raise, or restart it with its environments reset
            and their episodes reported as truncated.
        copy: Return fresh arrays from every call; False returns the buffers, which the next step overwrites.
        timing: Account for the time of every call in `envs.times`: environment compute, resets, extras, copying, IPC,
            waiting for the slowest; "workers" does so only where worker processes step the environments.
        ready_first: Say that you will use `send` and `recv` where there are any: auto may then choose async, and does
            where steps are so uneven that waiting for the slowest would cost more. Means nothing to other backends.
        env_kwargs: Passed on to the environment.
    """
    check_backend(backend)
    env = resolve_env(env) if isinstance(env, str) else env
    mode = resets.autoreset_mode(autoreset_mode)
    wanted = extras_.cadences(extras)
    if timing not in (True, False, "workers"):
        raise UserError(f"timing must be True, False or 'workers'; got {timing!r}")
    if backend == "jax":
        return _jax(env, num_envs, mode, wanted, copy, timing is True, env_kwargs)
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
        workers=worker_count(workers, len(makers)),
        batch_size=recv_size(batch_size, len(makers), backend),
        start_method=start_method_of(start_method),
        timeout=timeout,
        restart=on_worker_death == "restart",
        timing=bool(timing),
    )
    if backend == "auto":
        from garrison.vector import auto

        setup, choice = auto.look(setup, workers or cores(), ready_first)
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
    kind = backend.load(timing)
    return ctrl_c.make(lambda: kind(replace(setup, timing=timing)), lambda envs: envs.close())


def _jax(
    env: Env,
    num_envs: int | None,
    mode: AutoresetMode,
    wanted: extras_.Cadences,
    copy: bool,
    timing: bool,
    env_kwargs: dict[str, Any],
) -> "NativeEnvs":
    from garrison.vector.backends import jax_

    if not isinstance(env, str) or env not in jax_.ENTRY_POINTS:
        there_are = " and ".join(jax_.ENTRY_POINTS)
        raise UserError(f"backend 'jax' needs an environment that is written in JAX, {there_are}; got {env!r}.")
    if timing:
        raise UserError("backend 'jax' does not account for its time; use JAX's own profiler, jax.profiler.trace.")
    return jax_.make(env, count(num_envs), mode, copy=copy, extras=wanted, **env_kwargs)


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
) -> "NativeEnvs | None":
    # auto takes it only where it is the same as single environments: others' batches need not seed each by itself.
    modes = BATCHES.get(env, ()) if isinstance(env, str) else ()
    if backend != "native" and not (backend == "auto" and mode.name in modes):
        return None
    from garrison.vector import auto
    from garrison.vector.backends import native

    if not isinstance(env, str) or not native.exists(env):
        if backend == "auto":
            return None
        raise UserError(
            f"backend 'native' needs the id of an environment with a compiled batch; got {env!r}. Use 'auto'."
        )
    if modes and workers is not None:
        env_kwargs = {"threads": workers, **env_kwargs}
    kind = native.NativeEnvs
    if timing:
        from garrison.vector.timing.timed_envs import TimedNativeEnvs as kind
    envs = native.make(env, count(num_envs), mode, kind, copy=copy, extras=wanted, **env_kwargs)
    envs.workers = env_kwargs.get("threads", 1)
    if backend == "auto":
        auto.announce(envs, auto.Choice("native", 1, f"{env} has a compiled batch"))
    return envs
