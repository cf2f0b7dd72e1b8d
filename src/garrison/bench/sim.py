"""`garrison bench sim`: how fast the simulator steps, starts and how little it holds, beside CybORG and MiniCAGE."""

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from garrison.bench.measure import Configuration, Report, Work, doubling, measure
from garrison.bench.options import Common
from garrison.bench.results import keep
from garrison.system import cores
from garrison.text import short

MIX = {"bline": 0.5, "meander": 0.5}
LENGTH = 100
_HERE = "garrison.bench.sim"
_COLD = "cold_first_step_seconds"
_ROUNDS = 64  # different batches of random actions, drawn before the clock starts


@dataclass(frozen=True)
class Options(Common):
    """Measure the simulator: random actions, both attackers, episodes of 100 steps, automatic resets."""

    repeats: int = 7
    """Fresh processes per configuration."""
    workflow: bool = False
    """Compare batches with and without a workflow instead; the result is `workflow/cost.json`."""


@contextmanager
def native(num_envs: int, threads: int = 1) -> Iterator[Work]:
    """Step the batch: observations, rewards, flags, infos and the true state, automatic resets."""
    from garrison.cage2.vector_env import VectorEnv

    envs = VectorEnv(num_envs, red=MIX, length=LENGTH, threads=threads, autoreset_mode="SameStep")
    envs.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, 145, (_ROUNDS, num_envs))
    calls = max(1, 20_000 // num_envs)

    def advance() -> int:
        for k in range(calls):
            envs.step(actions[k % _ROUNDS])
        return calls * num_envs

    state_mb = sum(array.nbytes for array in vars(envs).values() if isinstance(array, np.ndarray)) / 1e6
    yield Work(advance, lambda: {"batch_mb": state_mb})
    envs.close()


@contextmanager
def single() -> Iterator[Work]:
    """Step one environment through Gymnasium's single interface, without its wrappers."""
    from garrison.cage2.env import Env

    env = Env(red=MIX, length=LENGTH)
    env.reset(seed=0)
    actions = np.random.default_rng(0).integers(0, 145, 1000).tolist()

    def advance() -> int:
        for action in actions:
            if env.step(action)[3]:
                env.reset()
        return len(actions)

    yield Work(advance)


@contextmanager
def cyborg(red: str, ask_true_state: bool) -> Iterator[Work]:
    """Step the original CybORG behind its ChallengeWrapper; users ask for the true state before and after a step."""
    import inspect

    from CybORG import CybORG
    from CybORG.Agents import B_lineAgent, RedMeanderAgent
    from CybORG.Agents.Wrappers import ChallengeWrapper

    scenario = Path(inspect.getfile(CybORG)).parent / "Shared" / "Scenarios" / "Scenario2.yaml"
    attacker = {"bline": B_lineAgent, "meander": RedMeanderAgent}[red]
    inner = CybORG(str(scenario), "sim", agents={"Red": attacker})
    env = ChallengeWrapper(env=inner, agent_name="Blue", max_steps=LENGTH)
    env.reset()
    random = np.random.default_rng(0)

    def advance() -> int:
        for _ in range(10):
            if ask_true_state:
                inner.get_agent_state("True")
            _, _, done, *_ = env.step(int(random.integers(145)))
            if ask_true_state:
                inner.get_agent_state("True")
            if done:
                env.reset()
        return 10

    yield Work(advance)


@contextmanager
def minicage(num_envs: int) -> Iterator[Work]:
    """Step MiniCAGE's NumPy batch against its Meander; it has 53 actions and no episode end."""
    from importlib import import_module

    module = import_module(_minicage_module() or "mini_CAGE")
    env = module.SimplifiedCAGE(num_envs=num_envs)
    attacker = module.Meander_minimal()
    random = np.random.default_rng(0)
    state, _ = env.reset()
    steps = 0

    def advance() -> int:
        nonlocal state, steps
        if steps % LENGTH == 0:
            state, _ = env.reset()
        steps += 1
        red = attacker.get_action(observation=state["Red"])
        blue = random.integers(0, 53, (num_envs, 1))
        state, *_ = env.step(blue_action=blue, red_action=red)
        return num_envs

    yield Work(advance)


def _minicage_module() -> str | None:
    names = ("mini_CAGE", "CybORG_plus_plus.mini_CAGE")
    return next((name for name in names if _is_installed(name)), None)


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def configurations(quick: bool) -> list[Configuration]:
    """Return what is measured: ours, and the peers that can be imported."""
    rows = [Configuration("garrison, one environment", f"{_HERE}:single")]
    for n in (1000,) if quick else (1, 20, 100, 1000, 10_000, 100_000):
        rows.append(Configuration(f"garrison, batch of {n}", f"{_HERE}:native", {"num_envs": n}))
    for threads in doubling(cores())[1:]:
        arguments = {"num_envs": 10_000, "threads": threads}
        rows.append(Configuration(f"garrison, batch of 10000, {threads} threads", f"{_HERE}:native", arguments))
    if quick and cores() > 1:
        rows.insert(2, Configuration("garrison, batch of 10000", f"{_HERE}:native", {"num_envs": 10_000}))
    if _is_installed("CybORG"):
        for red in ("bline", "meander"):
            rows.append(Configuration(f"CybORG, {red}", f"{_HERE}:cyborg", {"red": red, "ask_true_state": False}))
        twice = {"red": "meander", "ask_true_state": True}
        rows.append(Configuration("CybORG, meander, true state twice a step", f"{_HERE}:cyborg", twice))
    if _minicage_module():
        rows.append(Configuration("MiniCAGE, batch of 1000", f"{_HERE}:minicage", {"num_envs": 1000}))
    return rows


_STARTUP = """
import json, time
begun = time.perf_counter()
import garrison
imported = time.perf_counter()
from garrison.cage2 import VectorEnv
envs = VectorEnv(1)
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
    import json

    done = subprocess.run([sys.executable, "-c", _STARTUP], env=environment, capture_output=True, text=True, check=True)
    times: list[float] = json.loads(done.stdout)
    return times


def print_summary(report: Report, start: dict[str, float]) -> None:
    """Print ratios between rows of this run, and what starting costs."""
    names = {m.configuration.name for m in report.measurements}
    batch = report["garrison, batch of 1000"]
    print(f"one environment: {1e6 / report['garrison, one environment'].rate:.1f} µs a step")
    two = "garrison, batch of 10000, 2 threads"
    if two in names:
        ratio = report[two].rate / report["garrison, batch of 10000"].rate
        print(f"two threads at 10,000 environments: {ratio:.2f} times one thread")
    largest = "garrison, batch of 100000"
    if largest in names:
        print(f"100,000 environments hold {report[largest].median('batch_mb'):.0f} MB")
    for m in report.measurements:
        if not m.configuration.name.startswith("garrison") and m.rate:
            print(f"{m.configuration.name}: our batch of 1000 is {short(batch.rate / m.rate)} times as fast")
    compile_once = f", {start[_COLD]:.1f} s with the one-time compile" if _COLD in start else ""
    warm = f"first step {start['warm_first_step_seconds']:.2f} s with a warm cache"
    print(f"import garrison {start['import_seconds']:.2f} s; {warm}{compile_once}")


def main(arguments: list[str]) -> int:
    """Run the bench."""
    import tyro

    options = tyro.cli(Options, args=arguments, prog="garrison bench sim")
    if options.workflow:
        from garrison.bench import alignment

        alignment.run(options.quick, options.out)
        return 0
    start = quick_startup() if options.quick else startup(5)
    repeats, seconds = (2, 0.2) if options.quick else (options.repeats, 1.0)
    report = measure(configurations(options.quick), repeats=repeats, seconds=seconds, warm_up=0.3 * seconds)
    report.print("simulator: random actions, B_line and Meander, episodes of 100 steps")
    print_summary(report, start)
    keep(report, options.out, "sim", {"startup": start})
    return 0
