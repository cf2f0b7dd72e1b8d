"""Our trainers as workloads: PPO, IMPALA and A3C on native CAGE-2 or on Python environments, and PPO's arithmetic."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from garrison.bench.method.fresh import Work
from garrison.bench.suites.stepwise import StepwiseRun, stepwise
from garrison.bench.suites.training_envs import Job, native_envs, python_envs
from garrison.system import cores

if TYPE_CHECKING:
    from garrison.learn import PPOConfig

ENDLESS = 10**12  # steps


@contextmanager
def ppo(
    job: Job,
    hidden: int = 64,
    compute: str = "auto",
    trunk: str = "separate",
    backend: str = "native",
    workers: int | None = None,
    env: str = "synthetic",
    options: dict[str, Any] | None = None,
    threads: int = 0,
) -> Iterator[Work]:
    """PPO, an update at a time, on the native batch or on Python environments; its facts are the stages' shares."""
    from garrison.learn import PolicyConfig, PPOConfig

    config = PPOConfig(
        steps=ENDLESS,
        rollout=job["rollout"],
        minibatches=job["minibatches"],
        epochs=job["epochs"],
        compute=compute,
        threads=threads,
        policy=PolicyConfig(hidden=(hidden, hidden), trunk=trunk),
    )
    num_envs = job["num_envs"]
    envs = native_envs(num_envs) if backend == "native" else python_envs(num_envs, env, options or {}, backend, workers)
    with ppo_updates(config, envs) as work:
        yield work


@contextmanager
def ppo_updates(config: "PPOConfig", envs: Any) -> Iterator[Work]:
    """Yield the updates of PPO, one at a time; its facts are the stages' shares. Closes the environments."""
    from garrison.learn import train
    from garrison.learn.stages import from_metrics

    times: dict[str, float] = {}

    def see(metrics: dict[str, float]) -> None:
        for stage, seconds in from_metrics(metrics).items():
            if stage != "log":  # in which it is stopped, while others are on turn
                times[stage] = times.get(stage, 0.0) + seconds

    def shares() -> dict[str, float]:
        return {stage: seconds / sum(times.values()) for stage, seconds in times.items()}

    with stepwise(lambda run: train(config, envs, run=run), see, shares) as work:
        yield work
    envs.close()


@contextmanager
def impala(
    actors: int,
    envs: int,
    rollout: int,
    minibatches: int = 1,
    epochs: int = 1,
    batch: int = 1,
    rounds: int = 0,
    threads: int = 0,
) -> Iterator[Work]:
    """IMPALA, an update at a time: on native CAGE-2, or on Python environments of `rounds` of uneven work."""
    from garrison.learn.config import ImpalaConfig
    from garrison.learn.impala import train

    config = ImpalaConfig(
        steps=ENDLESS,
        actors=actors,
        rollout=rollout,
        batch=batch,
        epochs=epochs,
        minibatches=minibatches,
        threads=threads,
    )
    names = ("train/policy_lag", "train/publish_share", "train/waiting_for_data", "actors/wait")
    with last_of(lambda run: train(config, _makes(rounds), num_envs=envs, run=run), names) as work:
        yield work


@contextmanager
def a3c(actors: int, envs: int, rollout: int, rounds: int = 0) -> Iterator[Work]:
    """A3C, from log to log."""
    from garrison.learn.a3c import train
    from garrison.learn.config import A3CConfig

    config = A3CConfig(steps=ENDLESS, actors=actors, rollout=rollout)
    with last_of(lambda run: train(config, _makes(rounds), num_envs=envs, run=run), ("train/policy_lag",)) as work:
        yield work


@contextmanager
def products(hidden: int, epochs: int, trunk: str = "separate") -> Iterator[Work]:
    """PPO's matrix products alone: what bounds every trainer that computes each sample."""
    from garrison.bench.suites.matrix_products import Products
    from garrison.learn import Policy, PolicyConfig

    envs = native_envs(1)
    config = PolicyConfig(hidden=(hidden, hidden), trunk=trunk)
    work = Products(Policy(envs.single_observation_space, envs.single_action_space, config), cores(), epochs)
    yield Work(lambda: work.run(16))
    work.close()


def _makes(rounds: int) -> Callable[[int], Any]:
    if not rounds:
        return native_envs
    return partial(python_envs, env="synthetic", options={"rounds": rounds, "uneven": True})


@contextmanager
def last_of(train: Callable[[StepwiseRun], object], names: tuple[str, ...]) -> Iterator[Work]:
    """Yield the work of `train`; its facts are the last metrics of these names."""
    last: dict[str, float] = {}
    with stepwise(train, last.update, lambda: {name: last[name] for name in names}) as work:
        yield work
