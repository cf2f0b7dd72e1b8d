"""Other trainers on the same job, each written as its own users would write it; `sample_factory` has one more."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from garrison.bench.method.fresh import Work
from garrison.bench.suites.training_envs import Job, native_envs
from garrison.bench.synthetic import Synthetic


@contextmanager
def sb3(job: Job, hidden: int, jax: bool = False) -> Iterator[Work]:
    """Stable-Baselines3's PPO, or SBX: the same interface in JAX."""
    from garrison.vector.sb3_adapter import sb3 as adapt

    ppo = importlib.import_module("sbx" if jax else "stable_baselines3").PPO
    batch = job["num_envs"] * job["rollout"]
    model = ppo(
        "MlpPolicy",
        adapt(native_envs(job["num_envs"])),
        n_steps=job["rollout"],
        batch_size=batch // job["minibatches"],
        n_epochs=job["epochs"],
        policy_kwargs={"net_arch": [hidden, hidden]},
        device="cpu",
        seed=0,
    )

    def advance() -> int:
        model.learn(batch, reset_num_timesteps=False, log_interval=None)
        return batch

    yield Work(advance)


@contextmanager
def cleanrl_style(job: Job, hidden: int) -> Iterator[Work]:
    """Plain torch in CleanRL's manner: Categorical, autograd, minibatches indexed from flat tensors."""
    import torch
    from torch import distributions, nn

    categorical: Any = distributions.Categorical  # its methods have no types

    def layer(inputs: int, outputs: int, gain: float = 2**0.5) -> nn.Linear:
        made = nn.Linear(inputs, outputs)
        nn.init.orthogonal_(made.weight, gain)
        nn.init.zeros_(made.bias)
        return made

    def tower(outputs: int, gain: float) -> nn.Sequential:
        return nn.Sequential(
            layer(52, hidden), nn.Tanh(), layer(hidden, hidden), nn.Tanh(), layer(hidden, outputs, gain)
        )

    torch.manual_seed(0)
    num_envs, steps = job["num_envs"], job["rollout"]
    envs = native_envs(num_envs)
    actor, critic = tower(145, 0.01), tower(1, 1.0)
    parameters = [*actor.parameters(), *critic.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=1e-3, eps=1e-5)
    obs = torch.zeros(steps, num_envs, 52)
    actions, log_probs, rewards, dones, values = torch.zeros(5, steps, num_envs)
    shown = torch.as_tensor(envs.reset(seed=0)[0], dtype=torch.float32)
    done = torch.zeros(num_envs)

    def advance() -> int:
        nonlocal shown, done
        for t in range(steps):
            obs[t], dones[t] = shown, done
            with torch.no_grad():
                distribution = categorical(logits=actor(shown))
                action = distribution.sample()
                values[t] = critic(shown).flatten()
            actions[t], log_probs[t] = action, distribution.log_prob(action)
            following, reward, terminated, truncated, _ = envs.step(action.numpy())
            rewards[t] = torch.as_tensor(reward)
            shown = torch.as_tensor(following, dtype=torch.float32)
            done = torch.as_tensor(terminated | truncated, dtype=torch.float32)
        with torch.no_grad():
            advantages, last = torch.zeros_like(rewards), torch.zeros(num_envs)
            next_value, alive = critic(shown).flatten(), 1.0 - done
            for t in reversed(range(steps)):
                delta = rewards[t] + 0.99 * next_value * alive - values[t]
                advantages[t] = last = delta + 0.99 * 0.95 * alive * last
                next_value, alive = values[t], 1.0 - dones[t]
            returns = (advantages + values).flatten()
        b_obs, b_actions, b_log_probs = obs.view(-1, 52), actions.flatten(), log_probs.flatten()
        b_advantages = advantages.flatten()
        order = np.arange(steps * num_envs)
        for _ in range(job["epochs"]):
            np.random.default_rng().shuffle(order)
            for rows in np.array_split(order, job["minibatches"]):
                distribution = categorical(logits=actor(b_obs[rows]))
                ratio = (distribution.log_prob(b_actions[rows]) - b_log_probs[rows]).exp()
                mb = b_advantages[rows]
                mb = (mb - mb.mean()) / (mb.std() + 1e-8)
                policy_loss = torch.max(-mb * ratio, -mb * ratio.clamp(0.8, 1.2)).mean()
                value_loss = 0.5 * ((critic(b_obs[rows]).flatten() - returns[rows]) ** 2).mean()
                loss: Any = policy_loss + 0.5 * value_loss - 0.01 * distribution.entropy().mean()
                optimiser.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(parameters, 0.5)
                optimiser.step()
        return steps * num_envs

    yield Work(advance)


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
