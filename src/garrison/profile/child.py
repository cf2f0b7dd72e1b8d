"""One measurement in a process of its own: `python -m garrison.profile.child RESULT < request`, both JSON.

A fresh process for each, so that no backend inherits the threads, caches or imports of another.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import garrison.vector
from garrison.errors import UserError
from garrison.vector.auto import watch
from garrison.vector.base import Setup
from garrison.vector.naming import resolve_env
from garrison.workers import usage

DRAWS = 64
"""Batches of actions, drawn beforehand."""
FEWEST = 3
"""Steps of the batch that are measured, however slow."""


def inspect_env(request: dict[str, Any]) -> dict[str, Any]:
    """Make one environment, time its steps for a moment, and time a policy for its spaces."""
    from garrison.profile.inference import infer
    from garrison.vector.options import makers_of

    env = resolve_env(request["env"])
    makers = makers_of(env, 1, request["env_args"])
    one = makers[0]()
    spaces = one.observation_space, one.action_space
    one.close()
    return {
        "step_seconds": watch(Setup(makers)).step,
        "observation_space": str(spaces[0]),
        "action_space": str(spaces[1]),
        "is_id": isinstance(env, str),
        "has_batch": _has_batch(env, request["env_args"]),
        "inference": infer(*spaces, request["envs"], request["seconds"] / 4) if request["policy"] else None,
    }


def measure_backend(request: dict[str, Any]) -> dict[str, Any]:
    """Step one backend with random actions for a while and return where the time went."""
    begun = time.perf_counter()
    envs = _make(request, timing=True)
    made = time.perf_counter()
    envs.reset(seed=0)
    ready = time.perf_counter()
    advance = _advance(envs)
    _work(advance, request["warm_up"])
    before, cpu_before = envs.times, usage.snapshot([os.getpid(), *getattr(envs, "pids", [])])
    transitions, seconds = _work(advance, request["seconds"])
    times, cpu_after = envs.times - before, usage.snapshot(cpu_before)
    used = usage.between(cpu_before, cpu_after, seconds)
    caller = used.pop(os.getpid())
    batches = transitions / envs.num_envs
    result = {
        "backend": envs.backend,
        "workers": envs.workers,
        "batch_size": getattr(envs, "batch_size", None),
        "make_seconds": made - begun,
        "first_reset_seconds": ready - made,
        "transitions": transitions,
        "seconds": seconds,
        "steps_per_second": transitions / times.wall,
        "step_seconds": times.wall / batches,
        "parts": {part: spent / batches for part, spent in times.parts.items()},
        "resets": times.resets,
        "reset_seconds": times.parts["reset"] * envs.workers / times.resets if times.resets else None,
        "steps": {int(k): int(times.counts[k]) for k in np.flatnonzero(times.counts)},
        "caller": caller.to_dict(),
        "worker_processes": [each.to_dict() for each in used.values()],
    }
    envs.close()
    return result


def measure_overhead(request: dict[str, Any]) -> dict[str, Any]:
    """Step a set without timing, another without, and one with, in turns; return seconds of wall and CPU per step.

    CPU time (the caller's and the workers') tells the cost on a machine that others use as well.
    """
    sets = {"off": False, "off again": False, "on": True}
    made = {name: _make(request, timing) for name, timing in sets.items()}
    steps = {name: _advance(envs) for name, envs in made.items()}
    for name, envs in made.items():
        envs.reset(seed=0)
        _work(steps[name], request["warm_up"] / 3)
    before = {name: _worker_cpu(envs) for name, envs in made.items()}
    wall: dict[str, list[float]] = {name: [] for name in sets}
    cpu = dict.fromkeys(sets, 0.0)
    transitions = dict.fromkeys(sets, 0)
    random = np.random.default_rng(0)
    until = time.perf_counter() + request["seconds"]
    while time.perf_counter() < until or len(wall["on"]) < FEWEST:
        for name in random.permutation(list(sets)).tolist():
            begun, cpu_begun = time.perf_counter(), time.thread_time()
            done = steps[name]() + steps[name]()
            wall[name].append((time.perf_counter() - begun) * request["envs"] / done)
            cpu[name] += time.thread_time() - cpu_begun
            transitions[name] += done
    for name, envs in made.items():
        cpu[name] = (cpu[name] + _worker_cpu(envs) - before[name]) * request["envs"] / transitions[name]
        envs.close()
    medians = {name: float(np.median(times)) for name, times in wall.items()}
    return {"backend": request["backend"], "rounds": len(wall["on"]), "step_seconds": medians, "cpu_seconds": cpu}


def _worker_cpu(envs: Any) -> float:
    threads = [thread for each in usage.snapshot(getattr(envs, "pids", [])).values() for thread in each.values()]
    return sum(cpu for cpu, _ in threads)


def _has_batch(env: Any, env_args: dict[str, Any]) -> bool:
    from garrison.vector.backends import native

    if not isinstance(env, str) or not native.exists(env):
        return False
    try:
        garrison.vector.make(env, 1, "native", **env_args).close()
    except UserError:  # a batch that cannot be a backend
        return False
    return True


def _make(request: dict[str, Any], timing: bool) -> Any:
    names = ("workers", "batch_size", "extras")
    options = {name: request[name] for name in names if request.get(name) is not None}
    return garrison.vector.make(
        request["env"],
        request["envs"],
        request["backend"],
        autoreset_mode="same_step",
        copy=False,
        timeout=None,
        timing=timing,
        **options,
        **request["env_args"],
    )


def _advance(envs: Any) -> Callable[[], int]:
    """Return a function that steps the batch, or for `async` receives and sends once, and returns its transitions."""
    envs.action_space.seed(0)
    draws = [envs.action_space.sample() for _ in range(DRAWS)]
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        envs.step(draws[count % DRAWS])
        return int(envs.num_envs)

    if envs.backend != "async" or envs.batch_size == envs.num_envs:
        return step
    from garrison.vector import rows

    started = False

    def receive() -> int:
        nonlocal count, started
        if not started:
            envs.send(draws[0])
            started = True
        count += 1
        ids = envs.recv()[-1]
        envs.send(rows.part_of(draws[count % DRAWS], ids), ids)
        return len(ids)

    return receive


def _work(advance: Callable[[], int], seconds: float) -> tuple[int, float]:
    begun = time.perf_counter()
    transitions = calls = 0
    while calls < FEWEST or time.perf_counter() - begun < seconds:
        transitions += advance()
        calls += 1
    return transitions, time.perf_counter() - begun


MEASUREMENTS = {"look": inspect_env, "profile": measure_backend, "overhead": measure_overhead}


def main(arguments: list[str]) -> int:
    """Measure what the request on the standard input says; write the result, or the error, to the file named."""
    request = json.load(sys.stdin)
    try:
        result = MEASUREMENTS[request["what"]](request)
    except UserError as error:
        result = {"error": str(error), "is_input": True}
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        result = {"error": f"{type(error).__name__}: {lines[0]}", "details": str(error)}
    Path(arguments[0]).write_text(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
