"""`garrison bench sim`: how fast the simulator steps and starts and what it holds, beside CybORG and MiniCAGE."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Literal

import numpy as np

from garrison.bench.method.fresh import Configuration
from garrison.bench.method.labels import GARRISON, Labels
from garrison.bench.method.measure import doubling, measure
from garrison.bench.method.measurement import BenchResult
from garrison.bench.method.partners import pair
from garrison.bench.publish.keep import keep
from garrison.bench.suites import workflow_cost
from garrison.bench.suites.arguments import MeasuringArguments
from garrison.bench.suites.simulators import is_installed, minicage_module
from garrison.errors import UserError
from garrison.formatting import duration, plural
from garrison.system import cores, require

SIMULATORS, JAX = "garrison.bench.suites.simulators", "garrison.bench.suites.jax_workloads"
WORTH_THREADS = 1000
"""Environments of a batch from which on several threads are faster than one."""
SINGLE = {"who": GARRISON, "interface": "gymnasium.Env"}
CYBORG: Labels = {"who": "CybORG", "red": "meander"}
_COLD = "cold_first_step_seconds"


@dataclass(frozen=True)
class Arguments(MeasuringArguments):
    """Measure the simulator: random actions, both attackers, episodes of 100 steps, automatic resets."""

    engine: Literal["numba", "jax"] = "numba"
    """jax: the simulator in JAX, inside a scan on JAX's default device, beside the compiled one; see `sim-jax.json`."""
    workflow: bool = False
    """Compare batches with and without a workflow instead; the result is `workflow/cost.json`."""


def run(arguments: Arguments) -> int:
    """Measure, print the table and the summary, and keep the result."""
    if arguments.workflow:
        if arguments.go_on:
            raise UserError("--go-on cannot add to workflow/cost.json, which is measured in one go: leave it out.")
        workflow_cost.run(arguments.quick, arguments.out)
        return 0
    if arguments.engine == "jax":
        return run_jax(arguments)
    rounds, seconds = arguments.rounds("sim", quick=2), 0.2 if arguments.quick else 4.0
    start = quick_startup() if arguments.quick else startup(5)
    rows = pair(configurations(arguments.quick), partners)
    result = measure(rows, rounds, seconds=seconds, warm_up=0.3)
    result.print("simulator: random actions, B_line and Meander, episodes of 100 steps")
    print_summary(result, start)
    keep(arguments.out, "sim", result.record(startup=start))
    return 0


def run_jax(arguments: Arguments) -> int:
    """Measure the simulator in JAX beside the compiled one, print the table, and keep the result."""
    require("jax")
    seconds = 0.5 if arguments.quick else 2.0
    rows = pair(jax_configurations(arguments.quick), partners_of_jax)
    result = measure(rows, arguments.rounds("sim-jax", quick=2), seconds=seconds, warm_up=0.3 * seconds)
    result.print("simulator in JAX: random actions, B_line and Meander, episodes of 100 steps")
    for m in result.measurements:
        if m.samples and m.labels.get("engine") == "jax":
            held, compiled = m.median("batch_mb"), m.median("compile_seconds")
            again = max(sample.facts["recompiled"] for sample in m.samples)
            print(f"{m.configuration.name}: compiled in {compiled:.1f} s, {again:.0f} programs later; {held:.3g} MB")
    keep(arguments.out, "sim-jax", result.record())
    return 0


def jax_configurations(quick: bool) -> list[Configuration]:
    """Return the batch in JAX by size, and the compiled one: on one thread, and where that pays on every core."""
    rows = []
    for n in (4096,) if quick else (1, 16, 256, 4096, 65_536):
        threads = cores() if n >= WORTH_THREADS else 1
        labels = {"who": GARRISON, "engine": "jax", "envs": n}
        rows.append(Configuration(labels, f"{JAX}:simulator", {"num_envs": n}))
        rows.append(Configuration(batch(n, threads), f"{SIMULATORS}:native", {"num_envs": n, "threads": threads}))
    return rows


def partners_of_jax(labels: Labels) -> list[Labels]:
    """Return what a row in JAX can be compared with: the compiled batch of its size."""
    return [batch(labels["envs"], threads) for threads in (cores(), 1)] if "engine" in labels else []


def batch(envs: int, threads: int = 1) -> Labels:
    """Return the labels of our batch of this size."""
    return {"who": GARRISON, "envs": envs, "threads": threads}


def rollout(envs: int) -> Labels:
    """Return the labels of our batch of this size, played by rollouts."""
    return {"who": GARRISON, "method": "rollout", "envs": envs}


def configurations(quick: bool) -> list[Configuration]:
    """Return what is measured: ours, and the peers that can be imported.

    Threads and rollouts of a size come right behind its row: neighbours mostly take turns with each other too.
    """
    threads = doubling(cores())[1:]
    sizes = [1000, *([10_000] if threads else [])] if quick else [1, 20, 100, 1000, 100_000, 10_000]
    rolled = (1000,) if quick else (1, 100, 10_000)
    rows = [Configuration(SINGLE, f"{SIMULATORS}:single")]
    for n in sizes:
        for count in (1, *(threads if n == 10_000 else ())):
            given = {"num_envs": n} | ({"threads": count} if count > 1 else {})
            rows.append(Configuration(batch(n, count), f"{SIMULATORS}:native", given))
        if n in rolled:
            rows.append(Configuration(rollout(n), f"{SIMULATORS}:rollout", {"num_envs": n}))
    if is_installed("CybORG"):
        for red, true_states in (("bline", 0), ("meander", 0), ("meander", 2)):
            labels = {"who": "CybORG", "red": red} | ({"true_states": true_states} if true_states else {})
            given = {"red": red, "ask_true_state": bool(true_states)}
            rows.append(Configuration(labels, f"{SIMULATORS}:cyborg", given))
    if minicage_module():
        rows.append(Configuration({"who": "MiniCAGE", "envs": 1000}, f"{SIMULATORS}:minicage", {"num_envs": 1000}))
    return rows


def partners(_: Labels) -> list[Labels]:
    """Return what every row is compared with: CybORG, or without it our batch of 1,000."""
    return [CYBORG, batch(1000)]


_STARTUP = """
import json, time
begun = time.perf_counter()
import garrison
imported = time.perf_counter()
from garrison.cage2 import VectorEnv
envs = VectorEnv(1, copy=False)
envs.reset(seed=0)
envs.step([0])
print(json.dumps([imported - begun, time.perf_counter() - imported]))
"""


def startup(repeats: int) -> dict[str, float]:
    """Return median seconds of `import garrison`, of the first step with a warm cache, and one cold compile."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "GARRISON_CACHE_DIR": folder}
        cold = _start(environment)
        return _warm([_start(environment) for _ in range(repeats)]) | {_COLD: cold[1]}


def quick_startup() -> dict[str, float]:
    """Return what `startup` does without the compile, from the user's own cache."""
    return _warm([_start(dict(os.environ)) for _ in range(3)][1:])


def _warm(runs: list[list[float]]) -> dict[str, float]:
    imports, steps = (float(np.median(seconds)) for seconds in zip(*runs, strict=True))
    return {"import_seconds": imports, "warm_first_step_seconds": steps}


def _start(environment: dict[str, str]) -> list[float]:
    done = subprocess.run([sys.executable, "-c", _STARTUP], env=environment, capture_output=True, text=True, check=True)
    times: list[float] = json.loads(done.stdout)
    return times


def print_summary(result: BenchResult, start: dict[str, float]) -> None:
    """Print ratios between rows of this run, and what starting costs."""
    single = result.find(**SINGLE)
    one, two, largest = result.find(**batch(10_000)), result.find(**batch(10_000, 2)), result.find(**batch(100_000))
    if single and single.estimate:
        print(f"a step of one environment: {single.estimate.inverse().text(duration)}{single.estimate.caveat}")
    if one and two and (times := two.over(one)):
        print(f"two threads at 10,000 environments: {times.times()}{times.caveat} times one thread")
    for n in (1, 100, 1000, 10_000):
        steps, rolled = result.find(**batch(n)), result.find(**rollout(n))
        if steps and rolled and (times := rolled.over(steps)):
            print(f"rollouts of {plural(n, 'environment')}: {times.times()}{times.caveat} times step()")
    if largest and largest.samples:
        print(f"100,000 environments hold {largest.median('batch_mb'):.0f} MB")
    compile_once = f", {start[_COLD]:.1f} s with the one-time compile" if _COLD in start else ""
    warm = f"first step {start['warm_first_step_seconds']:.2f} s with a warm cache"
    print(f"import garrison {start['import_seconds']:.2f} s; {warm}{compile_once}")
