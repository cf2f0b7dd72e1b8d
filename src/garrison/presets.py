"""Named experiments: `garrison train NAME`."""

from dataclasses import replace

from garrison.config import EnvConfig, Experiment, RunConfig
from garrison.errors import choose
from garrison.learn.config import PolicyConfig, PPOConfig

DEFAULT = "ppo-mixed"

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
_RECORD = replace(
    _PPO,
    minibatches=16,
    learning_rate=2.5e-3,
    gamma=0.995,
    gae_lambda=0.98,
    entropy_coef_final=0.0005,
    reward_scale=0.5,
)
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

PRESETS: dict[str, tuple[str, Experiment]] = {
    "ppo-mixed": (
        "CAGE-2 against B_line and Meander in equal shares; the default",
        Experiment(_MIXED, learner=_PPO),
    ),
    "ppo-bline": ("CAGE-2 against B_line", Experiment(_BLINE, learner=_PPO)),
    "ppo-meander": ("CAGE-2 against Meander", Experiment(_MEANDER, learner=_PPO)),
    "record": (
        "the record under the leaderboard's rules: smaller minibatches, a longer view",
        Experiment(_MIXED, _OFTEN_SCORED, _RECORD),
    ),
    "record-head": (
        "the record under CybORG's present rules",
        Experiment(replace(_MIXED, rules="head"), _OFTEN_SCORED, _RECORD),
    ),
    "ppo-cartpole": (
        "CartPole-v1: any Gymnasium environment works, here in seconds",
        Experiment(_CARTPOLE, _BRIEF, _PPO_CARTPOLE),
    ),
}


def preset(name: str) -> Experiment:
    """Return a named experiment."""
    return PRESETS[choose("preset", name, list(PRESETS))][1]
