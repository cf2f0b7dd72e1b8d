"""CartPole and Pendulum, which EnvPool has in C++ and Gymnasium in Python, CartPole in NumPy as well.

Ours are Gymnasium's own Python environments: there is no compiled batch of them here. Their limit, bare loops on every
core, says how fast any backend around them can be at most.
"""

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium

from garrison import system
from garrison.bench.method.fresh import Configuration, Work
from garrison.bench.method.labels import GARRISON, LIMIT, Labels
from garrison.bench.method.partners import pair
from garrison.bench.suites.peer_vectors import not_installed
from garrison.bench.suites.stepping import BATCHES, actions_of, in_step

RESULT = "vector-classic"
ENVS = ("CartPole-v1", "Pendulum-v1")
SIZES = (64, 1024)
STEPPING = "garrison.bench.suites.stepping"
HERE = "garrison.bench.suites.classic_control"
BACKENDS = ("serial", "shared", "async", "auto")


def missing() -> list[str]:
    """Return the sentence that EnvPool is not installed, if it is not."""
    return [] if importlib.util.find_spec("envpool") else [not_installed("EnvPool")]


def rows(quick: bool = False) -> list[Configuration]:
    """Return every environment and size with EnvPool beside Gymnasium and ours; a quick look has the first cell."""
    found = []
    for env in ENVS[:1] if quick else ENVS:
        for size in SIZES[:1] if quick else SIZES:
            for labels, workload, given in _contestants(env):
                place = {"env": env, "envs": size}
                arguments = {"env": env, "num_envs": size, **given}
                found.append(Configuration(labels | place, workload, arguments))
    return pair(found, _partners)


def _partners(labels: Labels) -> list[Labels]:
    place = {"env": labels["env"], "envs": labels["envs"]}
    return [{"who": "EnvPool", "backend": "sync"} | place, {"who": LIMIT} | place]


def _contestants(env: str) -> Iterator[tuple[Labels, str, dict[str, Any]]]:
    cores = system.cores()
    plain: dict[str, Any] = {"options": {}}
    yield {"who": LIMIT}, f"{STEPPING}:limit", plain | {"workers": cores}
    for backend in BACKENDS:
        yield {"who": GARRISON, "backend": backend}, f"{STEPPING}:ours", plain | {"backend": backend}
    kinds = {"Sync": "sync"} | ({"own batch": "own"} if gymnasium.spec(env).vector_entry_point else {})
    for name, kind in kinds.items():
        yield {"who": "Gymnasium", "backend": name}, f"{STEPPING}:gymnasium_peer", plain | {"kind": kind}
    if importlib.util.find_spec("envpool"):
        for kind in ("sync", "async"):
            yield {"who": "EnvPool", "backend": kind}, f"{HERE}:envpool", {"kind": kind, "threads": cores}


@contextmanager
def envpool(env: str, num_envs: int, kind: str, threads: int) -> Iterator[Work]:
    """Step EnvPool: all at once, or whichever half is ready first."""
    import envpool as library

    batch = num_envs // 2 if kind == "async" else num_envs
    envs: Any = library.make_gymnasium(env, num_envs=num_envs, batch_size=batch, num_threads=threads, seed=0)
    draws = actions_of(envs.action_space, num_envs)
    if kind == "async":
        envs.async_reset()
        yield Work(_ready_first(envs, draws))
    else:
        envs.reset()
        yield Work(in_step(envs, draws))
    envs.close()


def _ready_first(envs: Any, draws: list[Any]) -> Callable[[], int]:
    count = 0

    def advance() -> int:
        nonlocal count
        count += 1
        ready = envs.recv()[4]["env_id"]
        envs.send(draws[count % BATCHES][: len(ready)], ready)
        return len(ready)

    return advance
