"""Workloads of learners without a barrier: IMPALA and A3C beside PPO, on native CAGE-2 and on uneven Python steps.

Two questions. *Native*: how fast do asynchronous actors and one learner train where environments cost almost nothing,
beside synchronous PPO with the same epochs, and beside RLlib's IMPALA where an interpreter has it. *Uneven*: on Python
environments of about 1 ms with log-normal step times, how close to the ideal (as many bare loops as cores, side by
side, which never wait for anybody) do IMPALA, A3C and PPO over a barrier come?
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from garrison.bench.measure import Configuration, Report, Work, measure
from garrison.bench.paced import Pace, paced
from garrison.bench.results import keep
from garrison.bench.synthetic import Synthetic, rounds_per_second
from garrison.bench.train import native_envs
from garrison.system import cores

_HERE, _LOOPS = "garrison.bench.train_async", "garrison.bench.workloads"
STEP_SECONDS = 0.001  # of the Python environment on a quiet core, on average
ENVS, ROLLOUT = 8, 32  # of each Python actor: short steps that add up to some unevenness
IDEAL = "uneven: bare loops"
NATIVE: dict[str, Any] = {"envs": 512, "rollout": 100, "minibatches": 8}


def uneven_envs(num_envs: int, rounds: int, backend: str = "serial", workers: int | None = None) -> Any:
    """Return Python environments whose steps cost `rounds` of work on average, log-normally spread."""
    from garrison import vector

    return vector.make(
        Synthetic, num_envs, backend, workers=workers, autoreset_mode="same_step", rounds=rounds, uneven=True
    )


@contextmanager
def impala(
    actors: int,
    envs: int,
    rollout: int,
    minibatches: int = 1,
    epochs: int = 1,
    batch: int = 1,
    hidden: int = 64,
    rounds: int = 0,
    threads: int = 0,
) -> Iterator[Work]:
    """Our IMPALA, an update at a time: on native CAGE-2, or on Python environments of `rounds` of uneven work."""
    from garrison.learn import PolicyConfig
    from garrison.learn.config import ImpalaConfig
    from garrison.learn.impala import train

    config = ImpalaConfig(
        steps=10**12,
        actors=actors,
        rollout=rollout,
        batch=batch,
        epochs=epochs,
        minibatches=minibatches,
        threads=threads,
        policy=PolicyConfig(hidden=(hidden, hidden)),
    )
    names = ("train/policy_lag", "train/publish_share", "train/waiting_for_data", "actors/wait")
    with _last_of(lambda run: train(config, _envs(rounds), envs, run), names) as work:
        yield work


@contextmanager
def a3c(actors: int, envs: int, rollout: int, hidden: int = 64, rounds: int = 0) -> Iterator[Work]:
    """Our A3C, from log to log."""
    from garrison.learn import PolicyConfig
    from garrison.learn.a3c import train
    from garrison.learn.config import A3CConfig

    policy = PolicyConfig(hidden=(hidden, hidden))
    config = A3CConfig(steps=10**12, actors=actors, rollout=rollout, policy=policy)
    with _last_of(lambda run: train(config, _envs(rounds), envs, run), ("train/policy_lag",)) as work:
        yield work


@contextmanager
def ppo(
    workers: int,
    envs: int,
    rollout: int,
    minibatches: int = 1,
    epochs: int = 1,
    hidden: int = 64,
    rounds: int = 0,
) -> Iterator[Work]:
    """Our PPO on the same environments: natively, or over `workers` processes that all wait for the slowest."""
    from garrison.learn import PolicyConfig, PPOConfig, train

    policy = PolicyConfig(hidden=(hidden, hidden))
    config = PPOConfig(steps=10**12, rollout=rollout, minibatches=minibatches, epochs=epochs, policy=policy)
    made = uneven_envs(envs, rounds, "shared", workers) if rounds else native_envs(envs)
    with _last_of(lambda run: train(config, made, run=run), ()) as work:
        yield work
    made.close()


@contextmanager
def rllib_impala(runners: int, envs: int, rollout: int, hidden: int = 64, rounds: int = 0) -> Iterator[Work]:
    """RLlib's IMPALA as its users write it: env runners of Gymnasium environments, one local learner, torch."""
    import gymnasium
    import ray
    from ray.rllib.algorithms.impala import IMPALAConfig
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.tune.registry import register_env

    def make(_: Any) -> Any:
        if rounds:
            return Synthetic(rounds, uneven=True)
        import garrison  # noqa: F401 - registers the environment

        bits = gymnasium.make("garrison/CAGE2-v0", red="bline", length=100)
        return gymnasium.wrappers.DtypeObservation(bits, np.float32)  # RLlib feeds bytes to its network otherwise

    register_env("measured", make)
    ray.init(num_cpus=runners + 1, include_dashboard=False, logging_level="error")
    config = (
        IMPALAConfig()
        .environment("measured")
        .env_runners(num_env_runners=runners, num_envs_per_env_runner=envs, rollout_fragment_length=rollout)
        .learners(num_learners=0)
        .training(train_batch_size_per_learner=envs * rollout, lr=1e-3)
        .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[hidden, hidden], fcnet_activation="tanh"))
        .reporting(min_time_s_per_iteration=0.5)
    )
    algorithm = config.build_algo()
    steps = 0

    def advance() -> int:
        nonlocal steps
        before = steps
        steps = int(algorithm.train()["num_env_steps_sampled_lifetime"])
        return steps - before

    yield Work(advance)
    algorithm.stop()
    ray.shutdown()


def configurations(quick: bool, peers: Mapping[str, str]) -> list[Configuration]:
    """Return what is measured; `peers` names an interpreter for each peer that there is one for."""

    def row(name: str, workload: str, python: str = "", **arguments: Any) -> Configuration:
        place = workload if ":" in workload else f"{_HERE}:{workload}"
        return Configuration(name, place, arguments, **({"python": python} if python else {}))

    count = cores()
    actors = max(1, count - 1)
    rows = []
    for epochs in (1,) if quick else (1, 2, 4):
        said = f"native, {epochs} epoch{'s' if epochs > 1 else ''}"
        rows.append(row(f"{said}: PPO", "ppo", workers=0, **NATIVE | {"envs": 1024}, epochs=epochs))
        rows.append(row(f"{said}: IMPALA, {actors} actor", "impala", actors=actors, **NATIVE, batch=2, epochs=epochs))
        one = NATIVE | {"envs": 1024, "threads": count}
        rows.append(row(f"{said}: IMPALA in one process", "impala", actors=0, **one, epochs=epochs))
    rows.append(row("native: A3C", "a3c", actors=count, envs=64, rollout=20))

    work: dict[str, Any] = {"rounds": int(STEP_SECONDS * rounds_per_second())}
    python: dict[str, Any] = {"env": "synthetic", "options": work | {"uneven": True}, "num_envs": ENVS * count}
    rows.append(row("uneven: one bare loop", f"{_LOOPS}:plain", **python))
    rows.append(row(IDEAL, f"{_LOOPS}:limit", workers=count, **python))
    rows.append(row("uneven: IMPALA", "impala", actors=count, envs=ENVS, rollout=ROLLOUT, **work))
    rows.append(row("uneven: A3C", "a3c", actors=count, envs=ENVS, rollout=ROLLOUT, **work))
    rows.append(row("uneven: PPO over a barrier", "ppo", workers=count, envs=ENVS * count, rollout=ROLLOUT, **work))
    if rllib_python := peers.get("rllib"):
        rllib: dict[str, Any] = {"python": rllib_python, "runners": actors, "envs": ENVS, "rollout": ROLLOUT}
        rows.append(row("native, 1 epoch: RLlib IMPALA", "rllib_impala", **rllib))
        rows.append(row("uneven: RLlib IMPALA", "rllib_impala", **rllib | {"runners": count}, **work))
    if sample_factory_python := peers.get("sample_factory"):
        appo: dict[str, Any] = {"python": sample_factory_python, "num_envs": ENVS * count, "rollout": ROLLOUT}
        place = "garrison.bench.train_sample_factory:appo"
        rows.append(row("uneven: Sample Factory APPO", place, **appo, workers=count, minibatches=1, **work))
    return rows


def run(quick: bool, repeats: int, seconds: float, out: Path | None, peers: Mapping[str, str]) -> None:
    """Measure, print the table and the shares of the ideal, and write `train-async.json`."""
    report = measure(configurations(quick, peers), repeats=repeats, seconds=seconds, warm_up=0.3 if quick else 2.0)
    report.print("learners without a barrier: environment steps a second, acting, stepping and learning")
    shares = efficiencies(report)
    for what, share in shares.items():
        print(f"{what}: {share:.0%}")
    keep(report, out, "train-async", {"shares": shares})


def efficiencies(report: Report) -> dict[str, float]:
    """Return the share of the ideal that each learner reaches on uneven Python environments."""
    rates = {m.configuration.name: m.rate for m in report.measurements if not m.error}
    ideal = rates.get(IDEAL, 0.0)
    learners = [name for name in rates if name.startswith("uneven:") and not name.endswith(("loop", "loops"))]
    return {f"{name}, share of the bare loops": rates[name] / ideal for name in learners if ideal}


def _envs(rounds: int) -> Callable[[int], Any]:
    return partial(uneven_envs, rounds=rounds) if rounds else native_envs


@contextmanager
def _last_of(train: Callable[[Pace], object], names: tuple[str, ...]) -> Iterator[Work]:
    """Yield the work of `train`; its facts are the last metrics of these names."""
    last: dict[str, float] = {}
    with paced(train, last.update, lambda: {name: last[name] for name in names}) as work:
        yield work
