"""What worker processes do to the machine: one math thread each, no busy waiting, nothing left, quick to start."""

import os
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
import threadpoolctl

import garrison.vector
from garrison.vector import env_workers
from garrison.vector.worker import WorkerTask
from garrison.workers import pin
from tests.helpers.processes import cpu_seconds, descendants
from tests.helpers.vector_samples import Sampler


def blas_threads() -> set[int]:
    """Ask every loaded OpenBLAS how many threads it would use."""
    libraries = threadpoolctl.threadpool_info()
    return {library["num_threads"] for library in libraries if library["internal_api"] == "openblas"}


class Curious(Sampler):
    """Tells about its process."""

    def threads(self) -> dict[str, Any]:
        np.ones((600, 600)) @ np.ones((600, 600))
        return {"threads": blas_threads(), **{name: os.environ.get(name) for name in pin.VARIABLES}}

    def torch_threads(self) -> int:
        import torch

        return torch.get_num_threads()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_math_libraries_use_one_thread_per_worker(method: Any) -> None:
    np.ones((600, 600)) @ np.ones((600, 600))
    if blas_threads() == {1}:
        pytest.skip("this machine's NumPy has one thread anyway")
    envs = garrison.vector.make(Curious, 2, "shared", workers=2, start_method=method)
    before = dict(os.environ)
    for told in envs.call("threads"):
        assert told == {"threads": {1}, **dict.fromkeys(pin.VARIABLES, "1")}
    assert dict(os.environ) == before  # ours is left alone
    envs.close()


def test_torch_is_pinned_too() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    import numba  # noqa: F401 - pinning it must not undo torch's

    before = torch.get_num_threads()
    for method in ("fork", "spawn"):
        envs = garrison.vector.make(Curious, 1, "shared", workers=1, start_method=method)  # type: ignore[arg-type]
        assert envs.call("torch_threads") == (1,)
        envs.close()
    assert torch.get_num_threads() == before


class Napper(Sampler):
    slept = 0.0

    def step(self, action: Any) -> Any:
        began = time.perf_counter()
        time.sleep(0.3)  # longer on a busy machine
        self.slept = time.perf_counter() - began
        return super().step(action)


class Awake(Sampler):
    slept = 0.0


@pytest.mark.parametrize("backend", ["pipes", "shared", "joint", "async"])
def test_nobody_waits_busily(backend: str) -> None:
    """While an environment sleeps, neither its idle neighbour nor the caller uses the processor."""
    envs: Any = garrison.vector.make([Napper, Sampler], backend=backend, workers=2)
    envs.reset(seed=0)
    envs.step(np.full(2, 2))  # the first step may import what it needs
    # This thread, not this process: other tests may have left threads of a math library spinning for a while.
    before = [time.thread_time(), *map(cpu_seconds, envs.pids)]
    envs.step(np.full(2, 2))
    envs.step(np.full(2, 2))
    after = [time.thread_time(), *map(cpu_seconds, envs.pids)]
    used = [b - a for a, b in zip(before, after, strict=True)]
    assert max(used) < 0.1, used
    envs.close()


def test_two_hundred_environments_need_two_processes_and_little_work_to_start() -> None:
    before = time.process_time()
    envs: Any = garrison.vector.make("CartPole-v1", 200, "shared", workers=2)
    envs.reset(seed=0)
    envs.step(np.zeros(200, int))
    assert time.process_time() - before + sum(map(cpu_seconds, envs.pids)) < 5.0  # of work, however long it waits
    assert len(envs.pids) == 2
    assert descendants() == set(envs.pids)
    envs.close()


def test_times_tell_what_the_barrier_costs() -> None:
    envs: Any = garrison.vector.make([Napper, Awake], backend="shared", workers=2, timing=True)
    envs.reset(seed=0)
    before = envs.times
    envs.step(np.full(2, 2))
    parts, slept = (envs.times - before).parts, max(envs.get_attr("slept"))
    assert parts["compute"] >= slept / 2  # the mean of both workers
    assert parts["wait"] > 0.0
    assert parts["compute"] + parts["wait"] >= 0.99 * slept  # the slower one's
    envs.close()


def test_using_the_package_loads_neither_torch_nor_what_uses_it() -> None:
    heavy = ("torch", "stable_baselines3", "numba", "garrison.cage2")
    code = f"import garrison.vector, sys; garrison.vector.make; print([n for n in {heavy} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("cores", "awake"), [(1, 0.0), (2, env_workers.AWAKE_SECONDS)])
def test_workers_look_for_messages_only_where_each_has_a_core(
    cores: int, awake: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []

    def note(*args: Any, **kwargs: Any) -> WorkerTask:
        task = of(*args, **kwargs)
        told.append(task.awake)
        return task

    of = WorkerTask.of
    monkeypatch.setattr(WorkerTask, "of", note)
    monkeypatch.setattr(env_workers, "cores", lambda: cores)
    garrison.vector.make(Sampler, 2, "shared", workers=2).close()
    assert told == [awake] * 2
