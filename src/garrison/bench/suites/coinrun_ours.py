"""Our learners on the users' CoinRun job, and the arithmetic of that job alone."""

from collections.abc import Iterator
from contextlib import contextmanager

from garrison.bench.method.fresh import Work
from garrison.bench.suites.coinrun_job import (
    GAMMA,
    HEAD,
    LEARNING_RATE,
    NUM_ACTIONS,
    PICTURE,
    coinrun,
    coinrun_native,
    frames,
    minibatch,
    our_policy,
)
from garrison.bench.suites.our_trainers import ENDLESS, last_of, ppo_updates
from garrison.bench.suites.training_envs import Job
from garrison.system import cores


@contextmanager
def ppo(job: Job, backend: str, workers: int | None = None) -> Iterator[Work]:
    """PPO, an update at a time; its facts are the stages' shares."""
    from garrison.learn import PPOConfig

    config = PPOConfig(
        steps=ENDLESS,
        rollout=job["rollout"],
        minibatches=job["minibatches"],
        epochs=job["epochs"],
        learning_rate=LEARNING_RATE,
        gamma=GAMMA,
        policy=our_policy(),
    )
    with ppo_updates(config, coinrun(job["num_envs"], backend, workers)) as work:
        yield work


@contextmanager
def impala(job: Job, actors: int) -> Iterator[Work]:
    """IMPALA with as many passes over the frames, from actors that step Procgen's own batch."""
    from garrison.learn.config import ImpalaConfig
    from garrison.learn.impala import train

    config = ImpalaConfig(
        steps=ENDLESS,
        actors=actors,
        rollout=job["rollout"],
        minibatches=job["minibatches"],
        epochs=job["epochs"],
        learning_rate=LEARNING_RATE,
        gamma=GAMMA,
        policy=our_policy(),
    )
    names = ("train/policy_lag", "train/waiting_for_data", "actors/wait")
    with last_of(lambda run: train(config, coinrun_native(), num_envs=job["num_envs"], run=run), names) as work:
        yield work


@contextmanager
def roofline(job: Job) -> Iterator[Work]:
    """The convolutions and matrix products of an update and nothing else, by torch on every core: what bounds all.

    Forward for every step of the rollout; forward and backward for every minibatch of every epoch; random numbers.
    """
    import torch
    from torch import nn

    torch.set_num_threads(cores())
    height, width, channels = PICTURE
    convolutions = nn.Sequential(
        nn.Conv2d(channels, 32, 8, stride=4), nn.Conv2d(32, 64, 4, stride=2), nn.Conv2d(64, 64, 3)
    )
    # Channels last, as pictures come: up to a third faster than the other order.
    sizes = (job["num_envs"], minibatch(job))
    seen, learned = (torch.rand(n, height, width, channels).permute(0, 3, 1, 2) for n in sizes)
    outputs = convolutions(seen).flatten(1).shape[1]
    heads = [nn.Sequential(nn.Linear(outputs, HEAD), nn.Linear(HEAD, n)) for n in (NUM_ACTIONS, 1)]
    parameters = [p for part in (convolutions, *heads) for p in part.parameters()]
    slopes = [torch.ones(len(learned), n) for n in (NUM_ACTIONS, 1)]

    def forward(pictures: torch.Tensor) -> list[torch.Tensor]:
        features = convolutions(pictures).flatten(1)
        return [head(features) for head in heads]

    def advance() -> int:
        with torch.inference_mode():
            for _ in range(job["rollout"]):
                forward(seen)
        for _ in range(job["epochs"] * job["minibatches"]):
            torch.autograd.grad(forward(learned), parameters, slopes)
        return frames(job)

    yield Work(advance)
