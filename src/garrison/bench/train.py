"""`garrison bench train`: steps a second with acting, stepping and learning, beside every installed peer."""

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from garrison.bench.measure import Configuration, Report, Work, measure
from garrison.bench.options import Common
from garrison.bench.paced import paced
from garrison.bench.results import keep
from garrison.bench.synthetic import Synthetic, rounds_per_second
from garrison.system import cores
from garrison.text import short

_HERE, _PEERS = "garrison.bench.train", "garrison.bench.train_peers"
EPOCHS = 4
LARGE = {"num_envs": 1024, "rollout": 100, "minibatches": 8, "epochs": EPOCHS}  # what our presets do
SMALL = {"num_envs": 64, "rollout": 64, "minibatches": 8, "epochs": EPOCHS}  # what peers do by default
CAGE2: dict[str, Any] = {"red": "bline", "length": 100}
STEP_SECONDS = 0.001  # of the Python environment, on a quiet core


@dataclass(frozen=True)
class Options(Common):
    """Measure training on native CAGE-2 (four epochs), and on Python environments of about 1 ms a step."""

    repeats: int = 7
    """Fresh processes per configuration."""
    seconds: float = 3.0
    """How long each process is measured."""
    part: Literal["all", "ppo", "async"] = "all"
    """What to measure: PPO beside its peers, learners without a barrier beside theirs, or both."""
    rllib_python: str = ""
    """An interpreter that has RLlib, which cannot be installed beside us: adds its IMPALA."""
    sample_factory_python: str = ""
    """An interpreter that has Sample Factory, which cannot be installed beside us: adds its APPO."""


def native_envs(num_envs: int) -> Any:
    """Return the native batch that every trainer is measured on."""
    from garrison.cage2 import VectorEnv

    return VectorEnv(num_envs, **CAGE2, autoreset_mode="SameStep")


@contextmanager
def garrison(
    job: dict[str, int],
    hidden: int,
    compute: str = "auto",
    trunk: str = "separate",
    backend: str = "native",
    workers: int | None = None,
    env: str | None = None,
    rounds: int = 0,
) -> Iterator[Work]:
    """Our PPO, an update at a time; other backends than native step Python environments: `env`, or `rounds` of work."""
    from garrison.learn import PolicyConfig, PPOConfig, train
    from garrison.learn.stages import PREFIX, SYNCHRONOUS

    config = PPOConfig(
        steps=10**12,
        rollout=job["rollout"],
        minibatches=job["minibatches"],
        epochs=job["epochs"],
        compute=compute,
        policy=PolicyConfig(hidden=(hidden, hidden), trunk=trunk),
    )
    if backend == "native":
        envs = native_envs(job["num_envs"])
    else:
        from garrison import vector

        target, options = (env, CAGE2) if env else (Synthetic, {"rounds": rounds})
        num_envs = job["num_envs"]
        envs = vector.make(target, num_envs, backend, autoreset_mode="same_step", workers=workers, **options)
    times = dict.fromkeys(SYNCHRONOUS, 0.0)

    def see(metrics: dict[str, float]) -> None:
        for stage in SYNCHRONOUS:
            times[stage] += metrics[PREFIX + stage]

    def shares() -> dict[str, float]:
        return {stage: seconds / sum(times.values()) for stage, seconds in times.items()}

    with paced(lambda run: train(config, envs, run=run), see, shares) as work:
        yield work
    envs.close()


@contextmanager
def products(hidden: int, trunk: str = "separate") -> Iterator[Work]:
    """The matrix products alone: what bounds every trainer."""
    from garrison.bench.products import Products
    from garrison.learn import Policy, PolicyConfig

    envs = native_envs(1)
    policy = Policy(
        envs.single_observation_space, envs.single_action_space, PolicyConfig(hidden=(hidden, hidden), trunk=trunk)
    )
    work = Products(policy, cores(), EPOCHS)
    yield Work(lambda: work.run(16))
    work.close()


def configurations(quick: bool) -> list[Configuration]:
    """Return what is measured, group by group."""
    return [row for group in GROUPS for row in group(quick)]


def native(quick: bool) -> list[Configuration]:
    """Return our trainer, what bounds it and the importable peers, on the native batch."""
    rows = []
    for hidden in () if quick else (64, 256):
        size = f"{hidden}x{hidden}"
        large = {"job": LARGE, "hidden": hidden}
        rows.append(Configuration(f"garrison {size}", f"{_HERE}:garrison", large))
        rows.append(Configuration(f"garrison {size}, shared trunk", f"{_HERE}:garrison", large | {"trunk": "shared"}))
        rows.append(
            Configuration(f"garrison {size}, plain torch", f"{_HERE}:garrison", large | {"compute": "autograd"})
        )
        rows.append(Configuration(f"CleanRL-style {size}", f"{_PEERS}:cleanrl_style", large))
        if _is_installed("stable_baselines3"):
            rows.append(Configuration(f"Stable-Baselines3 {size}", f"{_PEERS}:sb3", large))
        if _is_installed("sbx"):
            rows.append(Configuration(f"SBX {size}", f"{_PEERS}:sb3", large | {"jax": True}))
        rows.append(Configuration(f"matrix products {size}", f"{_HERE}:products", {"hidden": hidden}))
        shared = {"hidden": hidden, "trunk": "shared"}
        rows.append(Configuration(f"matrix products {size}, shared trunk", f"{_HERE}:products", shared))
    small = {"job": SMALL, "hidden": 64}
    rows.append(Configuration("garrison 64x64, minibatches of 512", f"{_HERE}:garrison", small))
    rows.append(Configuration("CleanRL-style 64x64, minibatches of 512", f"{_PEERS}:cleanrl_style", small))
    if _is_installed("stable_baselines3") and not quick:
        rows.append(Configuration("Stable-Baselines3 64x64, minibatches of 512", f"{_PEERS}:sb3", small))
    return rows


def parallel(quick: bool) -> list[Configuration]:
    """Return PPO on 32 Python environments of 1 ms, in sequence and in 4 workers; a quick look has them in `users`."""
    if quick:
        return []
    job = {"num_envs": 32, "rollout": 32, "minibatches": 4, "epochs": EPOCHS}
    python = {"rounds": int(STEP_SECONDS * rounds_per_second()), "job": job, "hidden": 64}
    workers = {"backend": "shared", "workers": 4}
    return [
        Configuration("Python, 32 in sequence", f"{_HERE}:garrison", python | {"backend": "serial"}),
        Configuration("Python, 4 workers x 8", f"{_HERE}:garrison", python | workers),
    ]


GROUPS: list[Callable[[bool], list[Configuration]]] = [native, parallel]
"""What gives the rows; to measure more, add a function of `quick` here."""


def main(arguments: list[str]) -> int:
    """Measure, print the table and the ratios, and write the JSON."""
    import tyro

    options = tyro.cli(Options, args=arguments, prog="garrison bench train", description=Options.__doc__)
    repeats, seconds, warm_up = (1, 0.5, 0.3) if options.quick else (options.repeats, options.seconds, 1.0)
    if options.part == "async" or (options.part == "all" and not options.quick):  # a quick look is at PPO alone
        from garrison.bench import train_async

        peers = {"rllib": options.rllib_python, "sample_factory": options.sample_factory_python}
        train_async.run(options.quick, repeats, seconds, options.out, peers)
    if options.part == "async":
        return 0
    report = measure(configurations(options.quick), repeats=repeats, seconds=seconds, warm_up=warm_up)
    report.print("training: environment steps a second, acting, stepping and learning, four epochs")
    ratios = _ratios(report)
    for what, ratio in ratios.items():
        print(f"{what}: {ratio:.2f}")
    keep(report, options.out, "train", {"ratios": ratios})
    return 0


def _ratios(report: Report) -> dict[str, float]:
    rates = {m.configuration.name: m.rate for m in report.measurements if not m.error}
    pairs = {
        f"{name} as a share of its matrix products": (name, name.replace("garrison", "matrix products"))
        for name in rates
        if name.startswith("garrison")
    }
    for name in rates:
        ours = "garrison " + name.partition(" ")[2]
        if not name.startswith(("garrison", "matrix", "Python")):
            pairs[f"{ours} over {name} ({short(rates[name])}/s)"] = (ours, name)
    pairs["Python environments: 4 workers x 8 over 32 in sequence"] = (
        "Python, 4 workers x 8",
        "Python, 32 in sequence",
    )
    return {what: rates[a] / rates[b] for what, (a, b) in pairs.items() if a in rates and b in rates}


def _is_installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None
