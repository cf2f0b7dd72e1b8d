"""Named experiments: `garrison train NAME`."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from garrison.errors import choose
from garrison.learn.config import A3CConfig, ImpalaConfig, JaxPPOConfig, PolicyConfig, PPOConfig
from garrison.learn.registry import LEARNERS
from garrison.registration import CAGE2, CAGE2_RED
from garrison.runs.chosen import CNN, MEASURED, PPO_NUMBERS, choose_settings
from garrison.runs.experiment import NO_PRESET, Experiment, RunConfig
from garrison.tasks.atari_games import FOR_TRAINING
from garrison.tasks.registry import EnvConfig
from garrison.vector.naming import name_of


def _on_device(config: PPOConfig) -> JaxPPOConfig:
    """Return the same settings for PPO by JAX."""
    return JaxPPOConfig(**{f.name: getattr(config, f.name) for f in fields(config)})


_ENV = EnvConfig(envs=1024, rules="leaderboard", length=100, observation="memory", actions="compact")
_BLINE, _MEANDER = replace(_ENV, red="bline"), replace(_ENV, red="meander")
_MIXED = replace(_ENV, red="bline:0.5,meander:0.5")
_CARTPOLE = EnvConfig(env="CartPole-v1", envs=8, backend="serial")
_BRIEF = RunConfig(checkpoint_every=10.0)

_PPO = PPOConfig(
    steps=30_000_000,
    rollout=100,
    epochs=4,
    minibatches=8,
    learning_rate=2e-3,
    gamma=0.99,
    gae_lambda=0.95,
    entropy_coef=0.01,
    entropy_schedule="linear",
    reward_scale=0.1,
    action_masks=True,
)
# A regret says at once what an action costs, so what comes later hardly needs to be waited for, and holds little noise,
# so half of the environments are enough. Who never meets Sleep may restore a host against it, for a point.
_REGRETS = replace(_ENV, envs=512, red="bline:0.48,meander:0.48,sleep:0.04", observation="history", reward="regret")
_RECORD = replace(
    _PPO,
    steps=8_000_000,
    minibatches=16,
    learning_rate=2.5e-3,
    gamma=0.95,
    gae_lambda=0.9,
    entropy_coef=0.003,
    entropy_coef_final=0.0001,
    reward_scale=0.5,
)
# What a belief says need not be learned, so fewer steps do; each takes longer.
_BELIEFS, _BELIEVING = replace(_REGRETS, belief=True), replace(_RECORD, steps=6_000_000)
# Half of the samples for each update learn sooner and end a little worse.
_QUICK = replace(_RECORD, steps=2_000_000, epochs=3, learning_rate=1.8e-3)
# The best from the score alone, for learners that have nothing else.
_SCORES = replace(
    _PPO,
    minibatches=16,
    learning_rate=2.5e-3,
    gamma=0.995,
    gae_lambda=0.98,
    entropy_coef_final=0.0005,
    reward_scale=0.5,
)
# Red's side: an episode may go wrong early and stay so, so the entropy stays higher than Blue's for longer.
_RED_SIDE = EnvConfig(env=CAGE2_RED, envs=1024, rules="leaderboard", length=100)
_RED_PPO = replace(_PPO, steps=8_000_000, minibatches=16, entropy_coef_final=0.001, reward_scale=0.05)
_OFTEN_SCORED = RunConfig(evaluate_every=5_000_000)
_PPO_CARTPOLE = PPOConfig(
    steps=200_000,
    rollout=32,
    epochs=20,
    minibatches=1,
    gamma=0.98,
    gae_lambda=0.8,
    entropy_coef=0.0,
    policy=PolicyConfig(hidden=(64, 64)),
)

# Small batches keep what an actor knows young: with one buffer it is a single update behind.
_IMPALA = ImpalaConfig(
    steps=30_000_000,
    rollout=100,
    buffers=1,
    batch=1,
    epochs=3,
    minibatches=16,
    vtrace_lambda=0.98,
    learning_rate=2.5e-3,
    gamma=0.995,
    entropy_coef=0.01,
    entropy_coef_final=0.0005,
    entropy_schedule="linear",
    reward_scale=0.5,
    action_masks=True,
)
_IMPALA_CARTPOLE = ImpalaConfig(
    steps=400_000,
    actors=2,
    rollout=64,
    epochs=4,
    minibatches=4,
    vtrace_lambda=0.9,
    learning_rate=3e-3,
    entropy_coef=0.005,
    reward_scale=0.05,
)
_A3C = A3CConfig(
    steps=30_000_000,
    rollout=25,
    gae_lambda=0.95,
    normalise_advantages="batch",
    learning_rate=2e-3,
    gamma=0.99,
    entropy_coef=0.01,
    entropy_coef_final=0.0005,
    entropy_schedule="linear",
    reward_scale=0.1,
    action_masks=True,
)
_A3C_CARTPOLE = A3CConfig(
    steps=600_000,
    actors=2,
    rollout=32,
    gae_lambda=0.9,
    normalise_advantages="batch",
    learning_rate=3e-3,
    entropy_coef=0.005,
    reward_scale=0.05,
)

_NATURE = replace(CNN, encoder="nature")
# CoinRun as in train-procgen, with a head of 512 each for policy and value; IMPALA as in its paper.
_COINRUN = EnvConfig(env="procgen-coinrun-v0", envs=32, env_args={"distribution_mode": "easy"})
_PPO_COINRUN = PPOConfig(
    steps=25_000_000,
    rollout=128,
    epochs=4,
    minibatches=4,
    learning_rate=5e-4,
    learning_rate_schedule="constant",
    gamma=0.999,
    gae_lambda=0.95,
    clip=0.2,
    entropy_coef=0.01,
    value_coef=0.5,
    max_grad_norm=0.5,
    policy=_NATURE,
)
_IMPALA_COINRUN = ImpalaConfig(
    steps=25_000_000,
    rollout=128,
    learning_rate=3e-4,
    learning_rate_schedule="constant",
    gamma=0.999,
    rho_bar=1.0,
    c_bar=1.0,
    entropy_coef=0.01,
    value_coef=0.5,
    policy=_NATURE,
)
# Atari as in CleanRL's ppo_atari: without sticky actions, so that scores compare with those of NoFrameskip-v4.
_PONG = EnvConfig(env="ALE/Pong-v5", envs=8, env_args={"repeat_action_probability": 0.0, **FOR_TRAINING})
_PPO_PONG = PPOConfig(
    steps=10_000_000,
    rollout=128,
    epochs=4,
    minibatches=4,
    learning_rate=2.5e-4,
    clip=0.1,
    value_clip=0.1,
    policy=replace(_NATURE, trunk="shared"),
)
_IMPALA_PONG = ImpalaConfig(
    steps=20_000_000,
    rollout=64,
    learning_rate=6e-4,
    policy=replace(_NATURE, trunk="shared"),
)
# Continuous actions as in CleanRL's ppo_continuous_action, with its 2048 steps from eight environments instead of one.
_PPO_MUJOCO = replace(
    PPO_NUMBERS,
    rollout=256,
    minibatches=32,
    learning_rate=3e-4,
    entropy_coef=0.0,
    value_clip=0.2,
    policy=MEASURED,
)
_HOPPER = EnvConfig(env="Hopper-v5", envs=8)
# As in RL Baselines3 Zoo: what a pendulum does now matters for a second, not for ten.
_PPO_PENDULUM = replace(
    PPO_NUMBERS,
    steps=100_000,
    rollout=1024,
    minibatches=64,
    learning_rate=1e-3,
    learning_rate_schedule="constant",
    gamma=0.9,
    entropy_coef=0.0,
    normalise_returns=False,
)

_PRESETS: dict[str, tuple[str, Experiment]] = {
    "ppo-mixed": (
        "CAGE-2 against B_line and Meander in equal shares; the default",
        Experiment(_MIXED, learner=_PPO),
    ),
    "ppo-bline": ("CAGE-2 against B_line", Experiment(_BLINE, learner=_PPO)),
    "ppo-meander": ("CAGE-2 against Meander", Experiment(_MEANDER, learner=_PPO)),
    "record": (
        "the record under the leaderboard's rules: learns from regrets, sees when things happened",
        Experiment(_REGRETS, _OFTEN_SCORED, _RECORD),
    ),
    "record-head": (
        "the record under CybORG's present rules",
        Experiment(replace(_REGRETS, rules="head"), _OFTEN_SCORED, _RECORD),
    ),
    "record-belief": (
        "the record with an exact belief as input, under the leaderboard's rules",
        Experiment(_BELIEFS, _OFTEN_SCORED, _BELIEVING),
    ),
    "record-belief-head": (
        "the same under CybORG's present rules",
        Experiment(replace(_BELIEFS, rules="head"), _OFTEN_SCORED, _BELIEVING),
    ),
    "record-quick": (
        "sooner above the challenge's winner than `record`, which ends higher",
        Experiment(replace(_REGRETS, envs=256), _OFTEN_SCORED, _QUICK),
    ),
    "red-vs-react-restore": (
        "Red learns against the scripted defender react-restore; --blue names others",
        Experiment(_RED_SIDE, learner=_RED_PPO),
    ),
    "red-vs-record": (
        "Red learns against the record agent",
        Experiment(replace(_RED_SIDE, blue="record"), learner=_RED_PPO),
    ),
    "ppo-jax-mixed": (
        "ppo-mixed by JAX, environments and learner on one device; --seeds 16 trains 16 agents at once",
        Experiment(_MIXED, learner=_on_device(_PPO)),
    ),
    "record-from-score": (
        "the record of before: learns from the challenge's own rewards, with a longer view",
        Experiment(_MIXED, _OFTEN_SCORED, _SCORES),
    ),
    "ppo-jax-record": ("record-from-score by JAX", Experiment(_MIXED, _OFTEN_SCORED, _on_device(_SCORES))),
    "ppo-cartpole": (
        "CartPole-v1: any Gymnasium environment works, here in seconds",
        Experiment(_CARTPOLE, _BRIEF, _PPO_CARTPOLE),
    ),
    "ppo-cartpole-parallel": (
        "the same with 32 environments in 4 processes that wait for each other",
        Experiment(replace(_CARTPOLE, envs=32, backend="shared", workers=4), _BRIEF, _PPO_CARTPOLE),
    ),
    "impala-mixed": (
        "CAGE-2 by IMPALA: actors of their own, one learner; B_line and Meander in equal shares",
        Experiment(replace(_MIXED, envs=256), learner=_IMPALA),
    ),
    "impala-bline": ("the same against B_line", Experiment(replace(_BLINE, envs=256), learner=_IMPALA)),
    "impala-meander": ("the same against Meander", Experiment(replace(_MEANDER, envs=256), learner=_IMPALA)),
    "impala-cartpole": ("CartPole-v1 by IMPALA", Experiment(_CARTPOLE, _BRIEF, _IMPALA_CARTPOLE)),
    "a3c-mixed": (
        "CAGE-2 by A3C: actors write to shared weights without locks",
        Experiment(replace(_MIXED, envs=64), learner=_A3C),
    ),
    "a3c-cartpole": ("CartPole-v1 by A3C", Experiment(_CARTPOLE, _BRIEF, _A3C_CARTPOLE)),
    "ppo-coinrun": ("Procgen's CoinRun from its pictures", Experiment(_COINRUN, learner=_PPO_COINRUN)),
    "impala-coinrun": (
        "the same by IMPALA, eight games in each actor",
        Experiment(replace(_COINRUN, envs=8), learner=_IMPALA_COINRUN),
    ),
    "ppo-pong": ("Atari's Pong from its pictures", Experiment(_PONG, learner=_PPO_PONG)),
    "impala-pong": ("the same by IMPALA", Experiment(_PONG, learner=_IMPALA_PONG)),
    "ppo-hopper": ("MuJoCo's Hopper-v5", Experiment(_HOPPER, learner=_PPO_MUJOCO)),
    "ppo-halfcheetah": (
        "MuJoCo's HalfCheetah-v5",
        Experiment(replace(_HOPPER, env="HalfCheetah-v5"), learner=_PPO_MUJOCO),
    ),
    "ppo-walker": ("MuJoCo's Walker2d-v5", Experiment(replace(_HOPPER, env="Walker2d-v5"), learner=_PPO_MUJOCO)),
    "ppo-pendulum": (
        "Pendulum-v1: continuous actions, in a minute",
        Experiment(EnvConfig(env="Pendulum-v1", envs=4, backend="serial"), _BRIEF, _PPO_PENDULUM),
    ),
}


PRESETS = {name: (what, replace(experiment, preset=name)) for name, (what, experiment) in _PRESETS.items()}
"""What each is, and its settings."""


def preset(name: str) -> Experiment:
    """Return a named experiment; `none` is PPO's bare defaults."""
    if name == NO_PRESET:
        return Experiment()
    return PRESETS[choose("preset", name, list(PRESETS))][1]


def default_preset(
    env: str | Callable[..., Any] = CAGE2,
    algorithm: str = "ppo",
    env_args: dict[str, Any] | None = None,
    backend: str = "auto",
) -> Experiment:
    """Return what settings that name no preset begin from.

    That is the learner's `-mixed` preset for CAGE-2, and `red-vs-react-restore` where Red learns. Presets are tuned for
    an environment, so for any other one they follow from what it shows and takes (`garrison.runs.chosen`), for which
    it is made once.

    Args:
        env: the name of an environment, or a function or class of a module that makes one.
        algorithm: the learner's name.
        env_args: arguments for what makes the environment.
        backend: where it will run, if that is `native`.
    """
    choose("learner", algorithm, list(LEARNERS))
    if env == CAGE2:
        return preset(f"{algorithm}-mixed")
    if env == CAGE2_RED and algorithm == "ppo":
        return preset("red-vs-react-restore")
    return choose_settings(env if isinstance(env, str) else name_of(env), algorithm, env_args or {}, backend)
