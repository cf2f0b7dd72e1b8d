"""Other trainers on the users' CoinRun job, each as its own users would write it, and the users' own code."""

import multiprocessing
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from garrison.bench.method.fresh import Work
from garrison.bench.suites import users_stand_ins
from garrison.bench.suites.coinrun_job import (
    ENV_ID,
    GAMMA,
    HEAD,
    LEARNING_RATE,
    NUM_ACTIONS,
    PICTURE,
    coinrun,
    frames,
    minibatch,
    one_coinrun,
)
from garrison.bench.suites.our_trainers import ENDLESS
from garrison.bench.suites.stepwise import StepwiseRun, stepwise
from garrison.bench.suites.training_envs import Job


@contextmanager
def sb3(job: Job, backend: str) -> Iterator[Work]:
    """Stable-Baselines3's PPO with the same network; in its own DummyVecEnv, or on Procgen's batch through ours."""
    import torch

    from garrison.vector.sb3_adapter import sb3 as adapt

    class Convolutions(torch.nn.Module):
        """SB3's NatureCNN without its dense layer: here policy and value have one each."""

        def __init__(self, space: Any) -> None:
            super().__init__()
            self.layers = _convolutions(space.shape[0])
            self.features_dim = self.layers(torch.zeros(1, *space.shape)).shape[1]

        def forward(self, pictures: torch.Tensor) -> torch.Tensor:
            features: torch.Tensor = self.layers(pictures)
            return features

    ppo, vec_env = (import_module(f"stable_baselines3{name}") for name in ("", ".common.vec_env"))
    num_envs = job["num_envs"]
    envs = vec_env.DummyVecEnv([one_coinrun] * num_envs) if backend == "Dummy" else adapt(coinrun(num_envs, backend))
    model = ppo.PPO(
        "CnnPolicy",
        envs,
        n_steps=job["rollout"],
        batch_size=minibatch(job),
        n_epochs=job["epochs"],
        learning_rate=LEARNING_RATE,
        gamma=GAMMA,
        ent_coef=0.01,
        policy_kwargs={
            "features_extractor_class": Convolutions,
            "net_arch": {"pi": [HEAD], "vf": [HEAD]},
            "activation_fn": torch.nn.ReLU,
        },
        device="cpu",
        seed=0,
    )

    def advance() -> int:
        model.learn(frames(job), reset_num_timesteps=False, log_interval=None)
        return frames(job)

    yield Work(advance)
    envs.close()


@contextmanager
def cleanrl_style(job: Job) -> Iterator[Work]:
    """Plain torch in the manner of CleanRL's PPO on Procgen: its batch, pictures kept as floats, autograd."""
    import torch
    from torch import distributions, nn

    categorical: Any = distributions.Categorical
    torch.manual_seed(0)
    num_envs, steps = job["num_envs"], job["rollout"]
    envs = coinrun(num_envs, "native")
    shape = (PICTURE[2], *PICTURE[:2])
    convolutions = _convolutions(shape[0])
    width = convolutions(torch.zeros(1, *shape)).shape[1]
    actor = nn.Sequential(nn.Linear(width, HEAD), nn.ReLU(), nn.Linear(HEAD, NUM_ACTIONS))
    critic = nn.Sequential(nn.Linear(width, HEAD), nn.ReLU(), nn.Linear(HEAD, 1))
    parameters = [p for part in (convolutions, actor, critic) for p in part.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=LEARNING_RATE, eps=1e-5)
    obs = torch.zeros(steps, num_envs, *shape)
    actions, log_probs, rewards, dones, values = torch.zeros(5, steps, num_envs)

    def tensor(pictures: Any) -> torch.Tensor:
        return torch.as_tensor(pictures, dtype=torch.float32).permute(0, 3, 1, 2)

    shown, done = tensor(envs.reset(seed=0)[0]), torch.zeros(num_envs)

    def advance() -> int:
        nonlocal shown, done
        for t in range(steps):
            obs[t], dones[t] = shown, done
            with torch.no_grad():
                features = convolutions(shown / 255.0)
                distribution = categorical(logits=actor(features))
                action = distribution.sample()
                values[t] = critic(features).flatten()
            actions[t], log_probs[t] = action, distribution.log_prob(action)
            following, reward, terminated, truncated, _ = envs.step(action.numpy())
            rewards[t] = torch.as_tensor(reward)
            shown = tensor(following)
            done = torch.as_tensor(terminated | truncated, dtype=torch.float32)
        with torch.no_grad():
            advantages, last = torch.zeros_like(rewards), torch.zeros(num_envs)
            next_value, alive = critic(convolutions(shown / 255.0)).flatten(), 1.0 - done
            for t in reversed(range(steps)):
                delta = rewards[t] + GAMMA * next_value * alive - values[t]
                advantages[t] = last = delta + GAMMA * 0.95 * alive * last
                next_value, alive = values[t], 1.0 - dones[t]
            returns = (advantages + values).flatten()
        b_obs, b_actions, b_log_probs = obs.view(-1, *shape), actions.flatten(), log_probs.flatten()
        b_advantages = advantages.flatten()
        order = np.arange(steps * num_envs)
        for _ in range(job["epochs"]):
            np.random.default_rng().shuffle(order)
            for rows in np.array_split(order, job["minibatches"]):
                features = convolutions(b_obs[rows] / 255.0)
                distribution = categorical(logits=actor(features))
                ratio = (distribution.log_prob(b_actions[rows]) - b_log_probs[rows]).exp()
                mb = b_advantages[rows]
                mb = (mb - mb.mean()) / (mb.std() + 1e-8)
                policy_loss = torch.max(-mb * ratio, -mb * ratio.clamp(0.8, 1.2)).mean()
                value_loss = 0.5 * ((critic(features).flatten() - returns[rows]) ** 2).mean()
                loss: Any = policy_loss + 0.5 * value_loss - 0.01 * distribution.entropy().mean()
                optimiser.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(parameters, 0.5)
                optimiser.step()
        return frames(job)

    yield Work(advance)
    envs.close()


@contextmanager
def users_code(job: Job, workers: int = 0, minibatch: int = 1024) -> Iterator[Work]:
    """The trainers of the users' own project, a clone of which must be importable: in sequence, or with `workers`.

    Their code runs as it is; only the games come from us, because theirs need packages of 2021 (gym, gym3, NumPy 1).
    """
    sys.path.insert(0, str(Path(users_stand_ins.__file__).parent))
    multiprocessing.set_start_method("spawn", force=True)  # as their scripts do
    given = {"env_name": ENV_ID, "n_steps": job["rollout"], "total_timesteps": ENDLESS, "batch_size": minibatch}
    given |= {"n_epochs": job["epochs"], "save_interval": ENDLESS, "seed": 42}
    if workers:
        made = import_module("src.parallel_trainer").ParallelTrainer(
            num_workers=workers, num_envs_per_worker=job["num_envs"] // workers, **given
        )
    else:
        made = import_module("src.trainer").SequentialTrainer(num_envs=job["num_envs"], **given)

    def train(run: StepwiseRun) -> None:
        made.logger = _EveryUpdate(run)
        made.train()

    with stepwise(train, lambda _: None, dict) as work:
        yield work


class _EveryUpdate:
    """Takes the place of their log, which they write once per update: training waits there for its next turn."""

    def __init__(self, run: StepwiseRun) -> None:
        self._run = run

    def log(self, data: Any, step: int) -> None:
        self._run.log(step, {})
        if self._run.stop:
            raise KeyboardInterrupt

    def close(self) -> None:
        pass


def _convolutions(channels: int) -> Any:
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(channels, 32, 8, stride=4),
        nn.ReLU(),
        nn.Conv2d(32, 64, 4, stride=2),
        nn.ReLU(),
        nn.Conv2d(64, 64, 3),
        nn.ReLU(),
        nn.Flatten(),
    )
