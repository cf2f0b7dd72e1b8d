"""Other libraries' vector environments on the same environments, each with the settings that its documentation advises.

Where a library can group environments, it has as many workers as ours, one per core; shared memory is on; who takes
whatever is ready takes half of all at once, as our `async` does. Processes are forked everywhere.
"""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from garrison.bench.method.fresh import Work
from garrison.bench.suites.stepping import BATCHES, actions_of, maker

HERE = "garrison.bench.suites.peer_vectors"


class Library(NamedTuple):
    """A library that may be installed: its module, a workload of this file, and a kind for each row, by name."""

    who: str
    module: str
    workload: str
    rows: dict[str, str]
    has_workers: bool = False
    most_envs: int | None = None
    """With more environments it is left out."""


PEERS = (
    Library(
        "PufferLib",
        "pufferlib",
        "puffer",
        {"Serial": "serial", "Multiprocessing": "workers", "half batch": "half", "half, relaxed": "relaxed"},
        has_workers=True,
    ),
    Library("Tianshou", "tianshou", "tianshou", {"Subproc": "pipes", "Shmem": "shared", "Shmem, async": "async"}),
    Library(
        "TorchRL", "torchrl", "torchrl_parallel", {"ParallelEnv": "each", "ParallelEnv of SerialEnv": "groups"}, True
    ),
    # A process for each environment, none of them forked: on two cores, 100 have not started after two minutes.
    Library("TorchRL", "torchrl", "torchrl_async", {"AsyncEnvPool": "each"}, True, most_envs=20),
    Library("TorchRL", "torchrl", "torchrl_async", {"AsyncEnvPool, groups": "groups"}, True),
)


def missing() -> list[str]:
    """Return a sentence for every library that has no rows because it is not installed."""
    absent = {peer.who: None for peer in PEERS if not importlib.util.find_spec(peer.module)}
    return [not_installed(who) for who in absent]


def not_installed(who: str) -> str:
    """Return the sentence that says why a library has no rows."""
    return f"{who} is not installed, so it has no rows: `make bench-peers` makes an environment that has it."


@contextmanager
def puffer(env: str, options: dict[str, Any], num_envs: int, kind: str, workers: int) -> Iterator[Work]:
    """Step PufferLib's Serial or Multiprocessing backend; "relaxed" turns its zero-copy and sync modes off."""
    import pufferlib.emulation
    import pufferlib.vector

    make_one = maker(env, options)

    def creator(buf: Any = None, seed: int = 0) -> Any:
        return pufferlib.emulation.GymnasiumPufferEnv(env=make_one(), buf=buf, seed=seed)

    settings: dict[str, Any] = {"backend": pufferlib.vector.Serial}
    if kind != "serial":
        # It refuses more workers than physical cores, unless they are overwork; ours has one per logical core.
        settings = {"backend": pufferlib.vector.Multiprocessing, "num_workers": workers, "overwork": True}
        settings["batch_size"] = num_envs // 2 if kind in ("half", "relaxed") else num_envs
    if kind == "relaxed":
        settings["zero_copy"] = False
    envs: Any = pufferlib.vector.make(creator, num_envs=num_envs, **settings)
    if kind == "relaxed":
        envs.sync_traj = False  # its make() does not pass this one on
    envs.async_reset(seed=0)
    draws = actions_of(envs.single_action_space, envs.agents_per_batch)
    envs.recv()
    count = 0

    def advance() -> int:
        nonlocal count
        count += 1
        envs.send(draws[count % BATCHES])
        envs.recv()
        return int(envs.agents_per_batch)

    yield Work(advance)
    envs.close()


@contextmanager
def tianshou(env: str, options: dict[str, Any], num_envs: int, kind: str) -> Iterator[Work]:
    """Step Tianshou's SubprocVectorEnv or ShmemVectorEnv; its callers reset what has ended."""
    from tianshou.env import ShmemVectorEnv, SubprocVectorEnv

    makers = [maker(env, options)] * num_envs
    space = makers[0]().action_space
    wait = num_envs // 2 if kind == "async" else None
    envs: Any = (SubprocVectorEnv if kind == "pipes" else ShmemVectorEnv)(makers, wait_num=wait)
    envs.reset(seed=0)
    draws = actions_of(space, num_envs)
    ready = np.arange(num_envs)
    count = 0

    def advance() -> int:
        nonlocal count, ready
        count += 1
        _, _, terminated, truncated, infos = envs.step(draws[count % BATCHES][: len(ready)], ready)
        ready = np.array([info["env_id"] for info in infos])
        if (ended := ready[terminated | truncated]).size:
            envs.reset(ended)
        return len(ready)

    yield Work(advance)
    if kind != "async":  # its close() waits for steps that are under way, and fails
        envs.close()


@contextmanager
def torchrl_parallel(env: str, options: dict[str, Any], num_envs: int, kind: str, workers: int) -> Iterator[Work]:
    """Step TorchRL's ParallelEnv: a process per environment, or a SerialEnv of them in each of some."""
    import torch
    from torchrl.envs import ParallelEnv, SerialEnv

    make_one = partial(_wrapped, maker(env, options))
    if kind == "groups":
        groups = min(workers, num_envs)
        some = partial(SerialEnv, num_envs // groups, make_one)
        envs: Any = ParallelEnv(groups, some, mp_start_method="fork")
    else:
        envs = ParallelEnv(num_envs, make_one, mp_start_method="fork")
    batch = envs.reset()
    draws = [torch.as_tensor(draw).reshape(batch.shape) for draw in actions_of(_space(env, options), batch.numel())]
    count = 0

    def advance() -> int:
        nonlocal count, batch
        count += 1
        batch["action"] = draws[count % BATCHES]
        _, batch = envs.step_and_maybe_reset(batch)
        return int(batch.numel())

    yield Work(advance)
    envs.close()


@contextmanager
def torchrl_async(env: str, options: dict[str, Any], num_envs: int, kind: str, workers: int) -> Iterator[Work]:
    """Step TorchRL's AsyncEnvPool: a process per environment, or threads for them in each of some."""
    import torch
    from torchrl.envs import AsyncEnvPool

    each = -(-num_envs // workers) if kind == "groups" else 1
    makers = [partial(_wrapped, maker(env, options))] * num_envs  # made here: its processes are not forked
    envs: Any = AsyncEnvPool(makers, backend="multiprocessing", exchange="shm", envs_per_worker=each)
    draws = [torch.as_tensor(draw) for draw in actions_of(_space(env, options), num_envs)]
    batch = envs.reset()
    batch["action"] = draws[0]
    envs.async_step_and_maybe_reset_send(batch)
    count = 0

    def advance() -> int:
        nonlocal count
        count += 1
        _, ready = envs.async_step_and_maybe_reset_recv(min_get=max(1, num_envs // 2))
        ready["action"] = draws[count % BATCHES][: len(ready)]
        envs.async_step_and_maybe_reset_send(ready)
        return len(ready)

    yield Work(advance)
    envs.async_step_and_maybe_reset_recv(min_get=num_envs)  # it cannot be closed while steps are under way
    envs.close()


def _wrapped(make_one: Any) -> Any:
    from torchrl.envs import GymWrapper, set_gym_backend

    with set_gym_backend("gymnasium"):  # PufferLib brings the old gym, which it would prefer
        return GymWrapper(make_one(), categorical_action_encoding=True)  # numbers, not rows of 145 bits


def _space(env: str, options: dict[str, Any]) -> Any:
    return maker(env, options)().action_space
